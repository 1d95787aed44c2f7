package lua_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"
	"bucketproof/bucket/lua"

	"github.com/redis/go-redis/v9"
)

// silent is a client that must not be used.
type silent struct{ t *testing.T }

func (s silent) Process(_ context.Context, cmd redis.Cmder) error {
	s.t.Errorf("%s was sent", cmd.Name())
	return errors.New("not sent")
}

// TestProbeSendsNoUnfitCommand: what would end the server, or make the connection
// useless, is a mistake with its place, and never sent.
func TestProbeSendsNoUnfitCommand(t *testing.T) {
	for _, command := range []string{"SHUTDOWN", "flushAll", "SUBSCRIBE", "MULTI", "SELECT", "${'MON' + 'ITOR'}"} {
		text := "name: x\ntime: server\ncommand: [\"" + command + "\", \"${key}\"]\nkeys: [\"${key}\"]\nreply: {allowed: reply == 1}\n"
		f, err := limiterfile.Parse("x.yaml", []byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		l, err := lua.New(f, silent{t})
		if err != nil {
			t.Fatal(err)
		}
		err = l.Probe(t.Context(), bucket.Limit{Rate: 1, Capacity: 1}, bucket.Request{Key: "k", Cost: 1})
		var mistake *limiterfile.Error
		if !errors.As(err, &mistake) || !strings.HasPrefix(err.Error(), "x.yaml:3:1: ") || !strings.Contains(err.Error(), " cannot be a limiter: ") {
			t.Errorf("%s: error %v, want a mistake in its place", command, err)
		}
	}
}
