package backend

import "testing"

// TestLastLinesLeaveWarningsOut: what a server warns of as it starts is not why it
// ended.
func TestLastLinesLeaveWarningsOut(t *testing.T) {
	const warning = "1:C 01 Dec 2026 12:00:00.000 # WARNING Memory overcommit must be enabled! Without it, a background save may fail.\n"
	for _, tt := range []struct{ log, want string }{
		{"", ""},
		{warning, ""},
		{"1:M # WARNING: a\n\n 1:M * Ready to accept connections\n" + warning, ": 1:M * Ready to accept connections"},
		{"a\nb\n" + warning + "c\n" + warning + "d", ": b | c | d"},
	} {
		if got := lastLines(tt.log, 3); got != tt.want {
			t.Errorf("of %q: %q, want %q", tt.log, got, tt.want)
		}
	}
}
