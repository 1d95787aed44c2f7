package backend_test

import (
	"context"
	"os/exec"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"bucketproof/bucket/backend"
	"bucketproof/bucket/backend/backendtest"
)

// user makes a user with an access rule and returns the URL that names it.
func user(t *testing.T, r *backend.Redis, rule ...any) string {
	t.Helper()
	words := append([]any{"ACL", "SETUSER", "u", "reset", "on", ">p", "~*", "&*", "+@all"}, rule...)
	if err := r.Client().Do(t.Context(), words...).Err(); err != nil {
		t.Skipf("this server knows no access rules: %v", err)
	}
	return "redis://u:p@" + r.Info().Address
}

// TestNamesAreANicety: a server that lets a connection have no name is used all
// the same.
func TestNamesAreANicety(t *testing.T) {
	r := backendtest.Real(t)
	other, err := backend.Open(t.Context(), user(t, r, "-client"), backend.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	c := other.NewClient("a")
	defer c.Close()
	if err := c.Set(t.Context(), "k", "v", 0).Err(); err != nil {
		t.Errorf("a client of it: %v", err)
	}
	named := r.NewClient("b")
	defer named.Close()
	if name, err := named.ClientGetName(t.Context()).Result(); err != nil || name != "bucketproof:b" {
		t.Errorf("where names are allowed it is %q, error %v", name, err)
	}
}

// TestInspectWithoutBlocks: a user who may not call MULTI is told of keys all the
// same.
func TestInspectWithoutBlocks(t *testing.T) {
	r := backendtest.Real(t)
	r.Client().HSet(t.Context(), "h", "tokens", "1.5")
	other, err := backend.Open(t.Context(), user(t, r, "-multi"), backend.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for range 2 {
		seen, err := other.Inspect(t.Context(), []backend.Probe{{Key: "h", Fields: []string{"tokens", "none"}}})
		if err != nil || !seen[0].Exists || seen[0].Values[0].Text != "1.5" || seen[0].Values[1].OK {
			t.Errorf("%+v, error %v", seen, err)
		}
	}
}

// TestForbiddenCommandIsNamed: the line says which command to allow.
func TestForbiddenCommandIsNamed(t *testing.T) {
	r := backendtest.Real(t)
	for _, tt := range []struct {
		rule  []any
		wants []string
	}{
		{[]any{"-ping"}, []string{"let the user call PING (ACL SETUSER … +ping)"}},
		{[]any{"-ping", "-client"}, []string{"let the user call PING (ACL SETUSER … +ping)"}},
	} {
		_, err := backend.Open(t.Context(), user(t, r, tt.rule...), backend.Options{})
		for _, want := range tt.wants {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v: error %v, want %q in it", tt.rule, err, want)
			}
		}
	}
	c := redis.NewClient(&redis.Options{Addr: r.Info().Address, Username: "u", Password: "p", MaxRetries: -1, DisableIdentity: true})
	defer c.Close()
	for _, tt := range []struct {
		rule []any
		do   func(context.Context) error
		want string
	}{
		{[]any{"-evalsha"}, func(ctx context.Context) error { return c.EvalSha(ctx, "x", nil).Err() }, "let the user call EVALSHA (ACL SETUSER … +evalsha)"},
		{[]any{"resetkeys", "~a"}, func(ctx context.Context) error { return c.Get(ctx, "b").Err() }, "let the user use its keys (ACL SETUSER … ~*)"},
		{[]any{}, func(ctx context.Context) error { return c.Do(ctx, "GET").Err() }, ""},
	} {
		user(t, r, tt.rule...)
		if got := backend.Permission(tt.do(t.Context())); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.rule, got, tt.want)
		}
	}
	if got := backend.Permission(nil); got != "" {
		t.Errorf("no error: %q", got)
	}
	if got := backend.Permission(exec.ErrNotFound); got != "" {
		t.Errorf("another error: %q", got)
	}
}
