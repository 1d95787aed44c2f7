package remote_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"
	"bucketproof/bucket/limitertest"
	"bucketproof/bucket/remote"
)

// open is the gateway limiter that the lines of a limiter file describe.
func open(t testing.TB, lines ...string) *remote.Gateway {
	t.Helper()
	g, err := remote.NewGateway(parse(t, ".", "name: gate\n"+strings.Join(lines, "\n")+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	return g
}

const statuses = "reply: {allowed: status == 200, denied: status == 429}"

// get is a gateway that is asked by GET.
func get(t testing.TB, address string, more ...string) *remote.Gateway {
	return open(t, append([]string{fmt.Sprintf("http: {url: %q}", "http://"+address+"/take?key=${key}"), statuses}, more...)...)
}

// server serves h until the test ends.
func server(t testing.TB, h http.HandlerFunc) (address string) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// status always answers with a status.
func status(n int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(n) }
}

// bucketHandler is a right gateway, which is told the limit with each request.
func bucketHandler() http.HandlerFunc {
	began := time.Now()
	memory := bucket.NewMemory(func() time.Duration { return time.Since(began) })
	return func(w http.ResponseWriter, r *http.Request) {
		figure := func(name string) float64 {
			v, _ := strconv.ParseFloat(r.FormValue(name), 64)
			return v
		}
		d, _ := memory.Take(r.Context(), bucket.Limit{Rate: figure("rate"), Capacity: figure("capacity")}, bucket.Request{Key: r.FormValue("key"), Cost: figure("cost")})
		w.Header().Set("X-Remaining", strconv.FormatFloat(d.Remaining, 'g', -1, 64))
		if !d.Allowed {
			w.Header().Set("Retry-After", strconv.FormatFloat(d.RetryAfter.Seconds(), 'g', -1, 64))
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}
}

func TestGatewayConforms(t *testing.T) {
	t.Parallel()
	address := server(t, bucketHandler())
	limitertest.Run(t, func(t *testing.T) bucket.Limiter {
		return open(t, "http:", "  method: POST", "  url: http://"+address+"/take", "  headers: {Content-Type: application/x-www-form-urlencoded}",
			`  body: "key=${key}&rate=${rate}&capacity=${capacity}&cost=${cost}"`,
			"reply:", "  allowed: status == 200", "  denied: status == 429", `  remaining: float(headers["X-Remaining"])`,
			`  retry_after: "status == 429 ? float(headers['Retry-After']) : nil"`)
	}, limitertest.Options{Costs: true})
}

func TestGatewayIsAskedAsTheFileSays(t *testing.T) {
	var got string
	address := server(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = fmt.Sprint(r.Method, " ", r.Host, r.URL, " ", r.Header, " ", r.ContentLength, " ", r.TransferEncoding, " ", string(body))
	})
	tests := []struct{ lines, want string }{
		{`http: {url: "http://%s/${instance}?k=${key}&now=${now_ms}"}`,
			"GET %s/app?k=a&now=1234 map[User-Agent:[bucketproof]] 0 [] "},
		{`http: {url: "http://%s/", headers: {host: shop.example, x-key: "${key}", user-agent: mine, idempotency-key: "${request}"}}`,
			"GET shop.example/ map[Idempotency-Key:[r] User-Agent:[mine] X-Key:[a]] 0 [] "},
		{`http: {url: "http://%s/", body: "${key} ${cost}"}`,
			"POST %s/ map[Content-Length:[3] User-Agent:[bucketproof]] 3 [] a 1"},
		{`http: {method: GET, url: "http://%s/", body: "${key}"}`,
			"GET %s/ map[Content-Length:[1] User-Agent:[bucketproof]] 1 [] a"},
		{`http: {method: POST, url: "http://%s/${key}"}`,
			"POST %s/a map[Content-Length:[0] User-Agent:[bucketproof]] 0 [] "},
		{`http: {method: DELETE, url: "http://%s/${key}"}`,
			"DELETE %s/a map[User-Agent:[bucketproof]] 0 [] "},
		{`http: {method: OPTIONS, url: "http://%s/${key}"}`,
			"OPTIONS %s/a map[User-Agent:[bucketproof]] 0 [] "},
	}
	for _, tt := range tests {
		g := open(t, fmt.Sprintf(tt.lines, address), statuses)
		_, err := g.Take(t.Context(), limit, bucket.Request{ID: "r", Key: "a", Instance: "app", Cost: 1, Now: time.UnixMilli(1234)})
		want := strings.ReplaceAll(tt.want, "%s", address)
		if err != nil || got != want {
			t.Errorf("%s:\n got %s, %v\nwant %s", tt.lines, got, err, want)
		}
	}
}

// TestStatuses: an error of the gateway is no denial, and a failure of its own no
// mistake in the file.
func TestStatuses(t *testing.T) {
	tests := []struct {
		status int
		reply  string
		want   string // "allowed", "denied", or what the error says
	}{
		{200, statuses, "allowed"},
		{429, statuses, "denied"},
		{503, statuses, "the answer (status 503) is neither allowed nor denied"},
		{302, statuses, "the answer (status 302) is neither allowed nor denied"},
		{503, "reply: {allowed: status == 200, denied: status == 503}", "denied"},
		{429, "reply: {allowed: status == 200}", "denied"},
		{204, "reply: {allowed: status == 200}", "denied"},
		{503, "reply: {allowed: status == 200}", "the answer (status 503) is not allowed, and an error is no denial; if it is one here, add denied: status == 503"},
		{404, "reply: {allowed: status == 200}", "if it is one here, add denied: status == 404"},
		{301, "reply: {allowed: status == 200}", "if it is one here, add denied: status == 301"},
		{101, "reply: {allowed: status == 200}", "status 101, and no other protocol was asked for"},
	}
	for _, tt := range tests {
		address := server(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/take" {
				t.Error("a redirection was followed")
			}
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(tt.status)
		})
		g := open(t, fmt.Sprintf("http: {url: %q}", "http://"+address+"/take?key=${key}"), tt.reply)
		d, err := take(t, g, patience)
		switch {
		case tt.want == "allowed" || tt.want == "denied":
			if err != nil || d.Allowed != (tt.want == "allowed") {
				t.Errorf("%d, %s: %+v, %v; want %s", tt.status, tt.reply, d, err, tt.want)
			}
		case err == nil || errors.Is(err, bucket.ErrUnsent) || !strings.HasSuffix(err.Error(), tt.want):
			t.Errorf("%d, %s: %+v, %v; want unknown, %s", tt.status, tt.reply, d, err, tt.want)
		}
		var mistake *limiterfile.Error
		if unread := err != nil && tt.status >= 200; errors.As(err, &mistake) != (unread && tt.status < 500) {
			t.Errorf("%d, %s: %v; as a mistake in the file: %v", tt.status, tt.reply, err, mistake)
		}
	}
}

// TestConnectionsAreKept: each limiter has connections of its own, a burst's are
// there for the next one, and long answers do not end them.
func TestConnectionsAreKept(t *testing.T) {
	var connections atomic.Int64
	const burst = 50
	var here sync.WaitGroup
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		here.Done()
		here.Wait() // so that all are in flight at once
		_, _ = w.Write(make([]byte, 300_000))
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	s.Start()
	defer s.Close()
	two := []*remote.Gateway{get(t, s.Listener.Addr().String()), get(t, s.Listener.Addr().String())}
	for range 3 {
		here.Add(2 * burst)
		var wg sync.WaitGroup
		for i := range 2 * burst {
			wg.Go(func() {
				if _, err := take(t, two[i%2], patience); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
	if n := connections.Load(); n < 2*burst || n > 2*burst+5 { // one may be dialled and not be needed any more
		t.Errorf("%d connections for %d requests at once, three times", n, 2*burst)
	}
}

// brittle listens and answers as many requests on each connection as serve says
// for it (the last of which may be 0: it is read and the connection closed), and
// counts the requests that it has read.
func brittle(t *testing.T, answers func(connection int) int) (address string, read *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	read = new(atomic.Int64)
	go func() {
		for n := 0; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serveSome(c, answers(n), read)
		}
	}()
	return l.Addr().String(), read
}

func serveSome(c net.Conn, answers int, read *atomic.Int64) {
	defer c.Close()
	buffer := make([]byte, 4096)
	for i := 0; ; i++ {
		if _, err := c.Read(buffer); err != nil {
			return
		}
		read.Add(1)
		if i == answers {
			return
		}
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	}
}

// TestRequestsAreNeverRepeated: a connection that was used before dies with the
// second request on it, which net/http would send again by itself for a GET, or
// under an Idempotency-Key. It was charged perhaps: it is unknown, and read once.
func TestRequestsAreNeverRepeated(t *testing.T) {
	for _, ask := range []string{
		`{url: "http://%s/${key}"}`,
		`{method: HEAD, url: "http://%s/${key}"}`,
		`{method: OPTIONS, url: "http://%s/${key}"}`,
		`{url: "http://%s/${key}", headers: {Idempotency-Key: x}}`,
		`{method: POST, url: "http://%s/${key}", headers: {Idempotency-Key: x}}`,
		`{method: DELETE, url: "http://%s/${key}", headers: {X-Idempotency-Key: x}}`,
		`{url: "http://%s/", body: "${key}", headers: {Idempotency-Key: x}}`,
		`{method: PUT, url: "http://%s/", body: "${key}"}`,
	} {
		address, read := brittle(t, func(int) int { return 1 })
		g := open(t, "http: "+fmt.Sprintf(ask, address), statuses)
		if _, err := take(t, g, patience); err != nil {
			t.Fatalf("%s: %v", ask, err)
		}
		_, err := take(t, g, patience)
		if err == nil || errors.Is(err, bucket.ErrUnsent) || !strings.Contains(err.Error(), "no usable answer") {
			t.Errorf("%s: %v, want unknown", ask, err)
		}
		if n := read.Load(); n != 2 {
			t.Errorf("%s: the gateway read %d requests of 2", ask, n)
		}
	}
}

// TestIdleConnectionsMayBeClosed: a gateway that closes connections while they are
// idle loses no request that was not under way already.
func TestIdleConnectionsMayBeClosed(t *testing.T) {
	s := httptest.NewServer(status(200))
	defer s.Close()
	g := get(t, s.Listener.Addr().String())
	answered := 0
	for range 20 {
		if _, err := take(t, g, patience); err == nil {
			answered++
		} else if errors.Is(err, bucket.ErrUnsent) {
			t.Errorf("lost: %v", err)
		}
		s.CloseClientConnections()
		time.Sleep(time.Millisecond) // until it is known here, as a rule
	}
	if answered < 2 {
		t.Errorf("%d of 20 requests were answered", answered)
	}
}

func TestWhatIsSurelyUnsent(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	fine := get(t, server(t, status(200)))
	tests := []struct {
		name string
		g    *remote.Gateway
		ctx  context.Context
		want string
	}{
		{"nobody listens", get(t, address), t.Context(), "connection refused"},
		{"no such host", get(t, "nonexistent.invalid"), t.Context(), "nonexistent.invalid"},
		{"not TLS", open(t, fmt.Sprintf("http: {url: \"https://%s/${key}\"}", server(t, status(200))), statuses), t.Context(), "TLS handshake"},
		{"nobody waits", fine, over, "context canceled"},
	}
	for _, tt := range tests {
		_, err := tt.g.Take(tt.ctx, limit, bucket.Request{Key: "k", Cost: 1})
		if !errors.Is(err, bucket.ErrUnsent) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want unsent, …%s…", tt.name, err, tt.want)
		}
	}
	if _, err := fine.Take(t.Context(), limit, bucket.Request{Key: "k", Cost: 2}); !errors.Is(err, bucket.ErrUnsent) || !strings.Contains(err.Error(), "does not use `cost`") {
		t.Errorf("a cost that cannot be told: %v", err)
	}
}

// TestWhatMayHaveBeenServedIsUnknown: the gateway has read the request and gives
// no usable answer.
func TestWhatMayHaveBeenServedIsUnknown(t *testing.T) {
	const never = 200 * time.Millisecond
	held := make(chan struct{})
	defer close(held)
	hang := func(http.ResponseWriter, *http.Request) { <-held }
	silent, _ := brittle(t, func(int) int { return 0 })
	tests := []struct {
		name     string
		g        *remote.Gateway
		patience time.Duration
		want     string
	}{
		{"closes", get(t, silent), patience, "EOF"},
		{"never answers", get(t, server(t, hang)), never, "deadline exceeded"},
		{"breaks off", get(t, server(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10")
			_, _ = io.WriteString(w, "half")
		})), patience, "status 200, and then: unexpected EOF"},
		{"never ends", get(t, server(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "half")
			_ = http.NewResponseController(w).Flush()
			hang(w, r)
		})), never, "deadline exceeded"},
		{"too long for an expression", open(t, fmt.Sprintf("http: {url: \"http://%s/${key}\"}", server(t, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(make([]byte, 2<<20))
		})), `reply: {allowed: body == ""}`), patience, "the answer's body is longer than 1048576 bytes"},
	}
	for _, tt := range tests {
		d, err := take(t, tt.g, tt.patience)
		if err == nil || errors.Is(err, bucket.ErrUnsent) || d.Allowed || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %+v, %v, want unknown, …%s…", tt.name, d, err, tt.want)
		}
	}
	long := get(t, server(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 2<<20)) }))
	if d, err := take(t, long, patience); err != nil || !d.Allowed {
		t.Errorf("a long body that no expression reads: %+v, %v", d, err)
	}
}

func TestMistakesOfOneRequestHaveAPlace(t *testing.T) {
	address := server(t, status(200))
	for lines, want := range map[string]string{
		`http: {url: "${key}://x/"}`: `gate: request was not sent: limiter.yaml:2:1: the url is "k://x/", want http:// or https:// and a host`,
		`http: {url: "http://` + address + `/${key}", headers: {x: "${key + '\\n'}"}}`: `gate: request was not sent: limiter.yaml:2:1: header X is "k\n", and a header has one line`,
		`http: {url: "http://x:${key}/"}`:                                              `invalid port ":k" after host`,
	} {
		_, err := take(t, open(t, lines, statuses), patience)
		if !errors.Is(err, bucket.ErrUnsent) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\n got %v\nwant %s", lines, err, want)
		}
	}
}
