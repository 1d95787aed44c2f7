package backend

import (
	"context"
	"net/url"
	"strings"

	"github.com/redis/go-redis/v9"
)

// openExternal connects to the server that a URL names.
func openExternal(ctx context.Context, spec string, o Options) (*Redis, error) {
	base, err := parseURL(spec)
	if err != nil {
		return nil, err
	}
	r, err := attach(ctx, Info{Kind: External, Address: base.Addr}, *base, nil)
	if err != nil {
		return nil, err
	}
	o.logf("redis: using %s", r.info)
	return r, nil
}

// parseURL reads a URL. Its errors never quote what may be a part of a
// password: a password with an unescaped "/" or "@" spills into host, port and
// path.
func parseURL(spec string) (*redis.Options, error) {
	scheme, rest, _ := strings.Cut(spec, "://")
	switch scheme {
	case "redis", "rediss", "unix":
	case "redis-cluster", "redis-sentinel":
		return nil, usagef("redis URL %s:// is not supported yet: name a single server with redis://host:port", scheme)
	default:
		return nil, usagef("redis URL scheme is not redis, rediss or unix: write redis://host:port")
	}
	u, err := url.Parse(spec)
	if err != nil || u.Fragment != "" || strings.Contains(u.Path+u.RawQuery, "@") || strings.Count(rest, "@") > 1 {
		return nil, usagef("redis URL cannot be read: write %s, and %%-escape special characters in a password", urlForm(scheme))
	}
	options, err := redis.ParseURL(spec)
	if err != nil {
		return nil, usagef("redis URL: %s: write %s", strings.TrimPrefix(err.Error(), "redis: "), urlForm(scheme))
	}
	return options, nil
}

// urlForm is how a URL of the scheme looks.
func urlForm(scheme string) string {
	if scheme == "unix" {
		return "unix://[user:password@]/path/to/redis.sock[?db=0]"
	}
	return scheme + "://[user:password@]host[:port][/database]"
}
