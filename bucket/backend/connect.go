package backend

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"strings"
	"syscall"

	"github.com/redis/go-redis/v9"
)

// connectError says why a server could not be used, and what to do. It wraps
// what the client reported.
type connectError struct {
	address string
	secure  bool // over TLS
	err     error
}

func (e *connectError) Error() string {
	return "connect to redis at " + e.address + ": " + reason(e.err, e.secure)
}

func (e *connectError) Unwrap() error { return e.err }

// refusals maps the beginning of what a server answers to what to do about it.
var refusals = []struct{ answer, text string }{
	{"NOAUTH", "it wants a password: redis://:PASSWORD@host:port"},
	{"WRONGPASS", "it refuses the user name or password of the URL"},
	{"ERR invalid password", "it refuses the password of the URL"},
	{"ERR AUTH", "it has no password or no such user, and the URL names one"},
	{"ERR Client sent AUTH", "it has no password, and the URL names one"},
	{"NOPERM", "its access rules forbid what the harness needs"}, // what is told by Permission
	{"ERR DB index", "it has no such database: lower the number at the end of the URL"},
	{"ERR SELECT is not allowed", "it has only database 0: leave the number out of the URL"},
	{"LOADING", "it is still loading its data: try again later"},
	{"MASTERDOWN", "it is a replica without its primary: name the primary"},
	{"DENIED", "it is in protected mode: give it a password, or connect from its own machine"},
	{"ERR max number of clients", "it has no connection left: raise its maxclients"},
}

// reason turns an error of the first command into one line with a hint.
func reason(err error, secure bool) string {
	text := strings.Join(strings.Fields(err.Error()), " ")
	for _, r := range refusals {
		if strings.Contains(text, r.answer) {
			return strings.TrimSuffix(r.text+": "+Permission(err), ": ")
		}
	}
	var dns *net.DNSError
	switch {
	case errors.Is(err, context.Canceled):
		return "interrupted"
	case errors.As(err, &dns):
		return "host " + dns.Name + " cannot be resolved: is it spelled right?"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens there: start a Redis, or use --redis auto"
	case errors.Is(err, os.ErrNotExist):
		return "there is no such socket: start a Redis with unixsocket set, or use --redis auto"
	case errors.Is(err, os.ErrPermission):
		return "this user may not open the socket: check its unixsocketperm"
	case strings.Contains(text, "first record does not look like a TLS handshake"),
		secure && isTimeout(err):
		return "it does not seem to speak TLS: use redis:// instead of rediss://"
	case strings.Contains(text, "x509:"):
		return text + ": use a host name its certificate covers, or add ?skip_verify=true"
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
		return "it closed the connection: is it a Redis, and does it want TLS (rediss://)?"
	case isTimeout(err):
		return "no answer in time: is the address right, and does a firewall let it through?"
	}
	return text
}

var forbiddenCommand = regexp.MustCompile(`'([^']+)' command`)

// Permission says what to allow where err is, or wraps, a server's refusal by an
// access rule (NOPERM): "let the user call EVALSHA (ACL SETUSER … +evalsha)"; ""
// for any other error.
func Permission(err error) string {
	var refused redis.Error
	if !errors.As(err, &refused) || !strings.Contains(refused.Error(), "NOPERM") {
		return ""
	}
	text := refused.Error()
	if m := forbiddenCommand.FindStringSubmatch(text); m != nil {
		return fmt.Sprintf("let the user call %s (ACL SETUSER … +%s)", strings.ToUpper(m[1]), strings.ToLower(m[1]))
	}
	switch {
	case strings.Contains(text, "channel"):
		return "let the user use its channels (ACL SETUSER … allchannels)"
	case strings.Contains(text, "key"):
		return "let the user use its keys (ACL SETUSER … ~*)"
	}
	return "allow the user what it was refused (ACL SETUSER)"
}

// isTimeout reports whether an answer did not come in time.
func isTimeout(err error) bool {
	var n net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &n) && n.Timeout()
}
