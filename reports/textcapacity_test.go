package reports

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestCapacityFitsATerminal: below the headline, which is a line in every summary,
// nothing is wider than the narrowest terminal, and what plans have in common is
// told once.
func TestCapacityFitsATerminal(t *testing.T) {
	var b bytes.Buffer
	if err := Text(&b, capable(), false); err != nil {
		t.Fatal(err)
	}
	_, below, _ := strings.Cut(b.String(), "\n")
	for line := range strings.Lines(below) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > proseWidth {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if n := strings.Count(below, "Not measured, and so in no plan"); n != 1 {
		t.Errorf("what two plans leave out is told %d times, want once", n)
	}
}

func TestWrapWords(t *testing.T) {
	for _, c := range []struct {
		words string
		width int
		want  string
	}{
		{"", 10, ""},
		{"one two three", 7, "one two\nthree"},
		{"  one   two ", 80, "one two"},
		{"immeasurable word", 5, "immeasurable\nword"},
		{"lag p99 287 µs; then", 12, "lag p99\n287 µs; then"},
		{"off by (+0.6 %) here", 12, "off by\n(+0.6 %)\nhere"},
		{"with σ = 0.31 and", 8, "with\nσ = 0.31\nand"},
		{"of 12 servers", 8, "of 12\nservers"},
	} {
		if got := wrapWords(c.words, c.width); got != c.want {
			t.Errorf("%q in %d columns:\n%s\nwant\n%s", c.words, c.width, got, c.want)
		}
	}
}
