package limiterfile

import (
	"strings"
	"unicode/utf8"

	"bucketproof/bucket"
)

// Template is a text with `${…}` expressions in it. It is immutable and safe
// for concurrent use.
type Template struct {
	parts []part
}

// part is literal text, or an expression.
type part struct {
	literal string
	expr    Expr
}

// Empty reports whether t is no text at all, as a field that was not given.
func (t Template) Empty() bool { return len(t.parts) == 0 }

// uses are the names that t depends on.
func (t Template) uses() nameSet {
	var out nameSet
	for i := range t.parts {
		out |= t.parts[i].expr.uses
	}
	return out
}

// Text is what t stands for in one request. An error is an [Error] with its
// place.
func (t Template) Text(l bucket.Limit, r bucket.Request) (string, error) {
	w := newScratch(l, r)
	defer w.free()
	var err error
	w.bytes, err = t.append(w.bytes, &w.scope)
	return string(w.bytes), err
}

// append appends the text that t stands for.
func (t Template) append(b []byte, s *scope) ([]byte, error) {
	for i := range t.parts {
		p := &t.parts[i]
		if !p.expr.Defined() {
			b = append(b, p.literal...)
			continue
		}
		var err error
		if b, err = p.expr.append(b, s); err != nil {
			return b, err
		}
	}
	return b, nil
}

// template compiles a text; what names it in messages.
func (s *source) template(text scalar, what string, known []name) (Template, error) {
	var t Template
	var literal strings.Builder
	flush := func() {
		if literal.Len() > 0 {
			t.parts = append(t.parts, part{literal: literal.String()})
			literal.Reset()
		}
	}
	rest, done := text.text, 0 // done: characters before rest
	for {
		before, after, found := strings.Cut(rest, "${")
		if !found {
			literal.WriteString(rest)
			flush()
			return t, nil
		}
		if escaped, ok := strings.CutSuffix(before, "$"); ok {
			literal.WriteString(escaped + "${")
			done += utf8.RuneCountInString(before) + 2
			rest = after
			continue
		}
		literal.WriteString(before)
		flush()
		at := done + utf8.RuneCountInString(before)
		end := closing(after)
		if end < 0 {
			return t, s.errorf(text.place(at), "%s: `${` has no closing `}`; write `$${` for a literal `${`", what)
		}
		e, err := compile(text, at+2, after[:end], what, known, wantWord)
		if err != nil {
			return t, err
		}
		t.parts = append(t.parts, part{expr: e})
		done = at + 2 + utf8.RuneCountInString(after[:end]) + 1
		rest = after[end+1:]
	}
}

// closing is the index of the } that ends an expression, -1 when there is
// none: braces inside nest, and inside quotes they do not count.
func closing(code string) int {
	depth, quote := 0, byte(0)
	for i := 0; i < len(code); i++ {
		c := code[i]
		switch {
		case quote != 0:
			if c == '\\' && quote != '`' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"' || c == '`':
			quote = c
		case c == '{':
			depth++
		case c == '}':
			if depth == 0 {
				return i
			}
			depth--
		}
	}
	return -1
}
