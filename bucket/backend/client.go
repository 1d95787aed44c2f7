package backend

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Limits of a client, where a URL does not set them.
const (
	poolSize    = 512              // connections; a burst wider than this waits for one
	dialTimeout = 5 * time.Second  // also for TLS
	readTimeout = 10 * time.Second // a context's deadline is earlier as a rule
	bufferSize  = 8 << 10          // bytes a connection and direction; go-redis' 32 KiB times 512 is too much
)

// DialFunc opens a connection to the server; network is "tcp" or "unix".
type DialFunc func(ctx context.Context, network, addr string) (net.Conn, error)

// Client is the shared client for administration: clean-up, audit, faults. It
// must not be closed. Load belongs on a client of its own.
func (r *Redis) Client() redis.UniversalClient { return r.admin }

// NewClient returns the client of one simulated instance, with a pool of its
// own of up to several hundred connections; nothing is connected before it is
// used (see [Warm]). The server's client list shows the instance's name, where
// the server allows names. The caller closes it.
func (r *Redis) NewClient(instance string) redis.UniversalClient {
	return r.newClient(instance, nil)
}

// NewClientVia is [Redis.NewClient] over connections that dial makes, which as
// a rule wraps those of [Redis.Dialer] to disturb them.
func (r *Redis) NewClientVia(instance string, dial DialFunc) redis.UniversalClient {
	return r.newClient(instance, dial)
}

// Dialer returns what clients dial with by default: plain or TLS connections
// to the server, kept alive, with a time limit.
func (r *Redis) Dialer() func(ctx context.Context, network, addr string) (net.Conn, error) {
	d := &net.Dialer{Timeout: r.settings.DialTimeout, KeepAlive: 30 * time.Second}
	if r.settings.TLSConfig == nil {
		return d.DialContext
	}
	secure := &tls.Dialer{NetDialer: d, Config: r.settings.TLSConfig}
	return secure.DialContext
}

// URL is an address that a client in any language understands, for a limiter
// that runs in a process of its own. It holds the password if there is one, so
// it must not be logged.
func (r *Redis) URL() string {
	o := r.settings
	u := url.URL{Scheme: "redis", Host: o.Addr}
	if o.Username != "" || o.Password != "" {
		u.User = url.UserPassword(o.Username, o.Password)
	}
	switch {
	case o.Network == "unix":
		u.Scheme, u.Host, u.Path = "unix", "", o.Addr
		if o.DB != 0 {
			u.RawQuery = fmt.Sprintf("db=%d", o.DB)
		}
		return u.String()
	case o.TLSConfig != nil:
		u.Scheme = "rediss"
		if o.TLSConfig.InsecureSkipVerify {
			u.RawQuery = "skip_verify=true"
		}
	}
	u.Path = fmt.Sprintf("/%d", o.DB)
	return u.String()
}

func (r *Redis) newClient(instance string, dial DialFunc) *redis.Client {
	silence()
	o := r.settings
	if dial == nil {
		dial = watched(r.Dialer())
	}
	o.Dialer = dial
	if !r.nameless {
		o.ClientName = clientName(instance)
	}
	return redis.NewClient(&o)
}

// clientSettings makes base honest (no command is sent twice, no deadline is
// ignored), quiet, and wide enough for a burst.
func clientSettings(base redis.Options) redis.Options {
	o := base
	o.MaxRetries = -1
	o.DialerRetries = 1
	o.ContextTimeoutEnabled = true
	o.PipelinePoolSize = -1 // pipelines share the one pool
	o.Protocol = 2
	o.DisableIdentity = true
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	o.ReadBufferSize, o.WriteBufferSize = bufferSize, bufferSize
	if o.PoolSize == 0 {
		o.PoolSize = poolSize
	}
	if o.DialTimeout == 0 {
		o.DialTimeout = dialTimeout
	}
	if o.ReadTimeout == 0 {
		o.ReadTimeout = readTimeout
	}
	return o
}

// clientName is what CLIENT LIST shows for an instance: CLIENT SETNAME takes
// printable ASCII without spaces.
func clientName(instance string) string {
	clean := func(c rune) rune {
		if c <= ' ' || c > '~' {
			return '_'
		}
		return c
	}
	return "bucketproof:" + strings.Map(clean, instance)
}

// silence keeps go-redis from writing to standard error behind our back. Its
// logger is global; errors reach us as values.
var silence = sync.OnceFunc(logging.Disable)

// Warm opens n connections of c ahead of a burst, so that the burst does not
// pay for dialling. It holds all n at once and gives them back before it
// returns.
func Warm(ctx context.Context, c redis.UniversalClient, n int) error {
	single, ok := c.(*redis.Client)
	if !ok {
		return nil
	}
	var conns []*redis.Conn
	defer func() {
		for _, conn := range conns {
			_ = conn.Close() // only hands it back
		}
	}()
	for range n {
		conn := single.Conn()
		conns = append(conns, conn)
		if err := conn.Ping(ctx).Err(); err != nil {
			return fmt.Errorf("warm up %d connections: %w", n, err)
		}
	}
	return nil
}
