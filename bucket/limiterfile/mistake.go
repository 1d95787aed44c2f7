package limiterfile

import (
	"fmt"
	"slices"
	"strings"
)

// Error is one mistake in a limiter file: where it is, what is wrong and what
// to do, in one line.
type Error struct {
	File   string // as it was named to Load or Parse
	Line   int    // from 1
	Column int    // in characters, from 1; 0: the whole line, for a mistake in Lua
	What   string // what is wrong and what to do; one line
	Cause  error  // what an expression or the file system said; nil when there is nothing more
}

// Error renders e as "file:line:column: what".
func (e *Error) Error() string {
	if e.Column == 0 {
		return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.What)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.What)
}

// Unwrap returns e.Cause.
func (e *Error) Unwrap() error { return e.Cause }

// place is a position in the source, both from 1, the column in characters.
type place struct{ line, column int }

// errorf makes the Error for a mistake at a place.
func (s *source) errorf(at place, format string, args ...any) *Error {
	what := strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " ")
	return &Error{File: s.name, Line: max(1, at.line), Column: max(1, at.column), What: what}
}

// hint says what the writer of word probably meant: the nearest of known, or
// all of known when none is near. In a short word two edits reach anything.
func hint(word string, known []string) string {
	most := 2
	if len([]rune(word)) < 4 {
		most = 1
	}
	if k := nearest(word, known, most); k != "" {
		return fmt.Sprintf("did you mean `%s`?", k)
	}
	return "known: " + strings.Join(known, ", ")
}

// nearest is the one of known that is the fewest edits from word, and not more
// than most; empty when there is none.
func nearest(word string, known []string, most int) string {
	best := ""
	for _, k := range known {
		if d := edits(strings.ToLower(word), strings.ToLower(k)); d <= most {
			best, most = k, d-1
		}
	}
	return best
}

// edits is the least number of insertions, deletions, substitutions and swaps
// of neighbours that turn a into b (the restricted Damerau–Levenshtein
// distance).
func edits(a, b string) int {
	x, y := []rune(a), []rune(b)
	if len(x) > 2*len(y)+3 {
		return len(x) // far off, and possibly very long
	}
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	prev, before := slices.Clone(row), slices.Clone(row)
	for i := range x {
		row[0] = i + 1
		for j := range y {
			differ := 0
			if x[i] != y[j] {
				differ = 1
			}
			row[j+1] = min(prev[j+1]+1, row[j]+1, prev[j]+differ)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, prev, row = prev, row, before
	}
	return prev[len(y)]
}
