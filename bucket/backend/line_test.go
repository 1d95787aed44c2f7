package backend

import (
	"errors"
	"fmt"
	"testing"
)

// TestOneLineKeepsErrorsApart: two errors in one line do not read as one.
func TestOneLineKeepsErrorsApart(t *testing.T) {
	first, second := errors.New("no server:\n\tnone\n\n"), errors.New("no space left")
	err := cleanedUp(first, second)
	if want := "no server:; none; no space left"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	if !errors.Is(err, first) || !errors.Is(err, second) {
		t.Errorf("%q no longer wraps both", err)
	}
	if got := cleanedUp(first, nil); !errors.Is(got, first) {
		t.Errorf("got %v, want the first", got)
	}
	if cleanedUp(nil, nil) != nil {
		t.Error("nothing went wrong, and there is an error")
	}
}

// refusal is an error that a server answers.
type refusal string

func (r refusal) Error() string { return string(r) }
func (refusal) RedisError()     {}

// TestNamesRefused: only what is said of CLIENT itself, by this or that version.
func TestNamesRefused(t *testing.T) {
	for text, want := range map[string]bool{
		"ERR unknown command 'client', with args beginning with: 'setname' 'x' ":            true,
		"ERR unknown command `client`, with args beginning with: `setname`, `x`, ":          true,
		"NOPERM this user has no permissions to run the 'client|setname' command":           true,
		"NOPERM this user has no permissions to run the 'client' command or its subcommand": true,
		"NOPERM this user has no permissions to run the 'ping' command":                     false,
		"ERR max number of clients reached":                                                 false,
		"ERR Client sent AUTH, but no password is set":                                      false,
		"NOAUTH Authentication required.":                                                   false,
	} {
		if got := namesRefused(fmt.Errorf("connect: %w", refusal(text))); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	if namesRefused(nil) || namesRefused(errors.New("ERR unknown command 'client'")) {
		t.Error("an error of another kind is taken for a refusal of a name")
	}
}
