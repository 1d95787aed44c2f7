package limiterfile

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// exec reads the program that is started for each instance.
func (d *decoder) exec(f field) error {
	items, err := d.src.items(f, `[node, limiter.js]`)
	if err != nil {
		return err
	}
	for i, item := range items {
		t, err := d.src.text(item, fmt.Sprintf("exec[%d]", i), "text")
		if err != nil {
			return err
		}
		if i == 0 && strings.TrimSpace(t.text) == "" {
			return d.src.errorf(t.at, "exec[0] is empty, want the program to start")
		}
		if i == 0 && len(items) == 1 && strings.ContainsAny(t.text, " \t") {
			return d.src.errorf(t.at, "exec[0] is %.40q, the name of one program: no shell reads it; give each argument an entry of its own, as in [node, limiter.js]", t.text)
		}
		d.file.Exec = append(d.file.Exec, t.text)
	}
	return nil
}

// http reads how a gateway is asked.
func (d *decoder) http(f field) error {
	fields, err := d.src.fields(f.value, "`http`", []string{"method", "url", "headers", "body"})
	if err != nil {
		return err
	}
	g := &Gateway{}
	for _, f := range fields {
		switch f.name {
		case "method":
			g.Method, err = d.src.oneOf(f, http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodHead, http.MethodOptions)
		case "url":
			g.URL, err = d.url(f)
		case "body":
			g.Body, err = d.one(f)
		case "headers":
			g.Headers, err = d.headers(f)
		}
		if err != nil {
			return err
		}
	}
	if len(g.URL.parts) == 0 {
		return d.src.errorf(f.at, "`http` has no url; add one, such as url: \"http://localhost:8080/take?key=${key}\"")
	}
	if g.Method == "" {
		g.Method = http.MethodGet
		if !g.Body.Empty() {
			g.Method = http.MethodPost
		}
	}
	if !g.uses().has(nameKey) {
		return d.src.errorf(f.at, "nothing in `http` holds `${key}`: all buckets and all runs would share one; put it into the url, a header or the body")
	}
	d.file.Gateway = g
	return nil
}

// uses are the names that a request depends on.
func (g *Gateway) uses() nameSet {
	out := g.URL.uses() | g.Body.uses()
	for _, h := range g.Headers {
		out |= h.Value.uses()
	}
	return out
}

// url reads a URL, and looks at what of it does not depend on the request.
func (d *decoder) url(f field) (Template, error) {
	t, err := d.one(f)
	if err != nil {
		return t, err
	}
	var sample strings.Builder
	for i := range t.parts {
		if t.parts[i].expr.Defined() {
			sample.WriteString("1") // fit for a host, a port, a path and a query
		}
		sample.WriteString(t.parts[i].literal)
	}
	if !t.parts[0].expr.Defined() {
		if err := checkURL(sample.String()); err != nil {
			return t, d.src.errorf(start(f.value), "url: %v", err)
		}
	}
	return t, nil
}

// checkURL reports what makes a text no URL of a gateway.
func checkURL(text string) error {
	u, err := url.Parse(text)
	if err != nil {
		var inner *url.Error
		if errors.As(err, &inner) {
			err = inner.Err
		}
		return fmt.Errorf("%w; write it as http://localhost:8080/take?key=${key}", err)
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("it does not begin with http:// or https://; write it as http://localhost:8080/take?key=${key}")
	case u.Hostname() == "":
		return fmt.Errorf("it names no host; write it as http://localhost:8080/take?key=${key}")
	}
	return nil
}

// headerName is a token as RFC 9110 has it.
var headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// lengthHeaders follow from the body, and a client that is told them sends its own.
var lengthHeaders = []string{"Content-Length", "Transfer-Encoding", "Trailer"}

func (d *decoder) headers(f field) ([]Header, error) {
	fields, err := d.src.fields(f.value, "`headers`", nil)
	if err != nil {
		return nil, err
	}
	var out []Header
	for _, f := range fields {
		name := http.CanonicalHeaderKey(f.name)
		switch {
		case !headerName.MatchString(f.name):
			return nil, d.src.errorf(f.at, "%.40q is no header's name; use letters, digits and dashes", f.name)
		case slices.Contains(lengthHeaders, name):
			return nil, d.src.errorf(f.at, "header `%s` follows from the body; remove it", f.name)
		case slices.ContainsFunc(out, func(h Header) bool { return h.Name == name }):
			return nil, d.src.errorf(f.at, "header `%s` is given twice; remove one", f.name)
		}
		t, err := d.one(f)
		if err != nil {
			return nil, err
		}
		for _, p := range t.parts {
			if strings.ContainsAny(p.literal, "\r\n") {
				return nil, d.src.errorf(start(f.value), "header `%s` has more than one line; write its value in one", f.name)
			}
		}
		out = append(out, Header{Name: name, Value: t})
	}
	return out, nil
}
