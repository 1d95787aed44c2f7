package remote

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"
)

// agent is how the harness calls itself unless the limiter file has a User-Agent.
const agent = "bucketproof"

// words are what is sent for one request.
type words struct {
	method string
	url    *url.URL
	host   string // that the gateway is told; "": the url's
	header http.Header
	body   string // "": none
}

// words evaluates the file's templates. An error is an [limiterfile.Error].
func (g *Gateway) words(limit bucket.Limit, r bucket.Request) (words, error) {
	ask := g.file.Gateway
	w := words{method: ask.Method, header: http.Header{"User-Agent": {agent}}}
	text, err := ask.URL.Text(limit, r)
	if err != nil {
		return w, err
	}
	if w.url, err = url.Parse(text); err != nil {
		return w, g.file.Mistake(string(limiterfile.HTTP), fmt.Sprintf("the url is no URL: %v", err))
	}
	if w.url.Scheme != "http" && w.url.Scheme != "https" || w.url.Host == "" {
		return w, g.file.Mistake(string(limiterfile.HTTP), fmt.Sprintf("the url is %q, want http:// or https:// and a host", text))
	}
	for _, h := range ask.Headers {
		value, err := h.Value.Text(limit, r)
		switch {
		case err != nil:
			return w, err
		case strings.ContainsAny(value, "\r\n\x00"):
			return w, g.file.Mistake(string(limiterfile.HTTP), fmt.Sprintf("header %s is %.60q, and a header has one line", h.Name, value))
		case h.Name == "Host":
			w.host = value
		default:
			w.header[spelling(h.Name)] = []string{value}
		}
	}
	w.body, err = ask.Body.Text(limit, r)
	return w, err
}

// spelling is how a header's name is sent. By the canonical name of these two
// net/http knows a request that it may send twice, whatever its method; by another
// spelling, which means the same to a server, it does not.
func spelling(name string) string {
	switch name {
	case "Idempotency-Key", "X-Idempotency-Key":
		return strings.ToLower(name)
	}
	return name
}

// request makes a request that net/http never sends a second time. It does so by
// itself, on another connection, where one that was used before has died: always
// where nothing was written, and for a method without a body (GET, HEAD, OPTIONS)
// also when the request was written and perhaps served. Both need a body that is
// missing or can be begun anew, and this one is there and cannot.
func (w *words) request(ctx context.Context) *http.Request {
	req := (&http.Request{
		Method: w.method, URL: w.url, Host: w.host, Header: w.header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(ctx)
	switch {
	case w.body != "":
		req.ContentLength = int64(len(w.body))
	case w.method != http.MethodGet && w.method != http.MethodHead && w.method != http.MethodOptions:
		return req // not repeatable by its method; an empty body would be sent in chunks
	}
	req.Body = io.NopCloser(strings.NewReader(w.body))
	return req
}
