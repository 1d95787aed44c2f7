package backend

import (
	"errors"
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
