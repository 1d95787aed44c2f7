package remote

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"
)

// Gateway asks a limiter behind HTTP/1.1. It is safe for concurrent use, keeps its
// connections alive and shares them with no other Gateway. It follows no
// redirection and goes through no proxy: the answer is the gateway's own.
type Gateway struct {
	file      *limiterfile.File
	transport *http.Transport
}

var _ bucket.Limiter = (*Gateway)(nil)

// maxBody is the most of an answer that is read, in bytes.
const maxBody = 1 << 20

// idleFor is how long a connection is kept that no request uses: less than the 5 s
// after which some servers (Node, Apache) close it, for a request that meets the
// closing on its way has an unknown outcome.
const idleFor = 4 * time.Second

// maxHeader is the most that an answer's headers may have, in bytes.
const maxHeader = 1 << 20

// NewGateway returns the limiter that f describes. A file of another kind than
// http is refused with an [limiterfile.Error].
func NewGateway(f *limiterfile.File) (*Gateway, error) {
	if f.Kind != limiterfile.HTTP {
		return nil, f.Mistake(string(f.Kind), fmt.Sprintf("a limiter of kind `%s` is not asked over HTTP", f.Kind))
	}
	var only1 http.Protocols
	only1.SetHTTP1(true) // a connection then carries one request at a time, see conn
	dialer := &net.Dialer{}
	return &Gateway{file: f, transport: &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return &conn{Conn: c}, nil
		},
		MaxIdleConnsPerHost:    1 << 16, // a burst's connections are there for the next one
		IdleConnTimeout:        idleFor,
		MaxResponseHeaderBytes: maxHeader,
		DisableCompression:     true,
		Protocols:              &only1,
	}}, nil
}

// File returns the limiter file.
func (g *Gateway) File() *limiterfile.File { return g.file }

// Close closes the connections that no request uses.
func (g *Gateway) Close() error {
	g.transport.CloseIdleConnections()
	return nil
}

// Take asks for r's tokens with one HTTP request. An answer that the file cannot
// read is an [limiterfile.Error], but where its status is 500 or more: then the
// gateway says itself that it failed.
func (g *Gateway) Take(ctx context.Context, limit bucket.Limit, r bucket.Request) (bucket.Decision, error) {
	d, err := g.take(ctx, limit, r)
	if err != nil {
		return bucket.Untold(false), fmt.Errorf("limiter %s: %w", g.file.Name, err)
	}
	return d, nil
}

func (g *Gateway) take(ctx context.Context, limit bucket.Limit, r bucket.Request) (bucket.Decision, error) {
	none := bucket.Untold(false)
	if r.Cost != 1 && !g.file.UsesCost {
		return none, fmt.Errorf("%w: the file does not use `cost`, so every request costs 1, not %v", bucket.ErrUnsent, r.Cost)
	}
	w, err := g.words(limit, r)
	if err != nil {
		return none, fmt.Errorf("%w: %w", bucket.ErrUnsent, err)
	}
	answer, err := g.ask(ctx, w)
	if err != nil {
		return none, fmt.Errorf("%s %s://%s: %w", w.method, w.url.Scheme, w.url.Host, err)
	}
	d, err := g.file.DecideHTTP(limit, r, answer)
	switch {
	case err == nil:
		return d, nil
	case answer.Status >= http.StatusInternalServerError: // %v: the gateway's failure, and no mistake in the file
		return none, fmt.Errorf("%s %s://%s: the gateway failed with status %d, its log may say why; %v", w.method, w.url.Scheme, w.url.Host, answer.Status, err)
	}
	return none, fmt.Errorf("read the answer: %w", err)
}

// attempts is how many connections are tried that turn out to have been closed by
// the gateway before anything was written on them.
const attempts = 4

// ask sends the request once. A connection that the gateway has closed while it
// was idle is no reason to lose a request: where surely nothing was written, it
// goes out on another.
func (g *Gateway) ask(ctx context.Context, w words) (limiterfile.Response, error) {
	for try := 1; ; try++ {
		answer, t, err := g.send(ctx, w)
		switch {
		case err == nil:
			return answer, nil
		case t.written():
			return answer, fmt.Errorf("no usable answer: %w", err)
		case !t.reused || try == attempts || ctx.Err() != nil:
			return answer, fmt.Errorf("%w: %w%s", bucket.ErrUnsent, err, hint(err))
		}
	}
}

// hint says what to do about an error that a connection could not be made with.
func hint(err error) string {
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" && !dial.Timeout() {
		return "; does the gateway run, and is this where?"
	}
	return ""
}

// send makes one attempt.
func (g *Gateway) send(ctx context.Context, w words) (limiterfile.Response, *trip, error) {
	t := &trip{}
	resp, err := g.transport.RoundTrip(w.request(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: t.board})))
	if err != nil {
		return limiterfile.Response{}, t, err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusSwitchingProtocols { // what follows is no body and may never end
		return limiterfile.Response{}, t, fmt.Errorf("status %d, and no other protocol was asked for", resp.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1)) // to its end, or the connection is not used again
	switch {
	case err != nil:
		return limiterfile.Response{}, t, fmt.Errorf("status %d, and then: %w", resp.StatusCode, err)
	case len(body) > maxBody && g.file.Reply.UsesBody():
		return limiterfile.Response{}, t, fmt.Errorf("the answer's body is longer than %d bytes", maxBody)
	}
	headers := make(map[string]string, len(resp.Header))
	for name, values := range resp.Header {
		headers[name] = values[0]
	}
	return limiterfile.Response{Status: resp.StatusCode, Headers: headers, Body: string(body[:min(len(body), maxBody)])}, t, nil
}

// trip is one request on its way over a connection.
type trip struct {
	on     *conn // nil: there was none yet
	reused bool  // somebody's request went over it before
}

// board notes the connection, before anything is written on it.
func (t *trip) board(info httptrace.GotConnInfo) {
	c := info.Conn
	if secure, ok := c.(*tls.Conn); ok {
		c = secure.NetConn()
	}
	if own, ok := c.(*conn); ok {
		t.on, t.reused = own, info.Reused
		own.begin()
	}
}

// written reports whether a byte of the request may have been written, and sees to
// it that none will be any more.
func (t *trip) written() bool { return t.on != nil && t.on.seal() }
