package reports

import "testing"

func TestShortenedCutsBetweenWords(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"granted 5 tokens", 16, "granted 5 tokens"}, {"granted 5 tokens, 3 too many", 20, "granted 5 tokens…"},
		{"überlanges", 5, "über…"}, {"a bb", 3, "a…"},
	} {
		if got := shortened(c.text, c.width); got != c.want {
			t.Errorf("shortened(%q, %d) = %q, want %q", c.text, c.width, got, c.want)
		}
	}
}
