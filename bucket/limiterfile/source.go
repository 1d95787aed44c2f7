package limiterfile

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// source is the text of a limiter file, kept to find places in it.
type source struct {
	name  string
	lines [][]rune
}

// newSource splits data into lines, without a byte order mark.
func newSource(name string, data []byte) (*source, []byte) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	s := &source{name: name}
	for line := range strings.Lines(string(data)) {
		s.lines = append(s.lines, []rune(strings.TrimRight(line, "\r\n")))
	}
	return s, data
}

// line returns the n-th line, from 1; nothing beyond the end.
func (s *source) line(n int) []rune {
	if n < 1 || n > len(s.lines) {
		return nil
	}
	return s.lines[n-1]
}

// maxSize is the largest limiter file, in bytes: the YAML parser takes time
// quadratic in the depth of nesting, so that a large wrong file would hang.
const maxSize = 256 << 10

// root parses data and returns its one document.
func (s *source) root(data []byte) (ast.Node, error) {
	if len(data) > maxSize {
		return nil, s.errorf(place{1, 1}, "the file has %d bytes, more than %d; a long script belongs into a file of its own", len(data), maxSize)
	}
	file, err := parseYAML(data)
	if err != nil {
		return nil, s.syntax(err)
	}
	var root ast.Node
	for _, d := range file.Docs {
		if d.Body == nil || d.Body.Type() == ast.CommentType {
			continue
		}
		if root != nil {
			return nil, s.errorf(start(d.Body), "a second document begins here; one file holds one limiter")
		}
		root = d.Body
	}
	if root == nil {
		return nil, s.errorf(place{1, 1}, "the file is empty; `name`, `script`, `keys` and `reply` are needed at least")
	}
	return root, nil
}

// parseYAML is parser.ParseBytes, whose panics on odd input become errors: bad
// input must never end the program.
func parseYAML(data []byte) (f *ast.File, err error) {
	defer func() {
		if r := recover(); r != nil {
			f, err = nil, fmt.Errorf("this is no YAML (%v)", r)
		}
	}()
	return parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey())
}

// syntax gives a parser's error its place and, where an unquoted expression is
// the usual cause, a hint.
func (s *source) syntax(err error) error {
	var syntax yaml.Error
	if !errors.As(err, &syntax) {
		return s.errorf(place{1, 1}, "%v", err)
	}
	what, at := syntax.GetMessage(), place{1, 1}
	if t := syntax.GetToken(); t != nil && t.Position != nil {
		at = place{t.Position.Line, t.Position.Column}
	}
	if strings.HasPrefix(strings.TrimLeft(string(s.line(at.line)), " "), "\t") {
		return s.errorf(place{at.line, 1}, "YAML: a tab in the indentation; indent with spaces")
	}
	const quote = "; an expression that holds `[`, `:`, `?` or `#` must be quoted here"
	switch {
	case strings.Contains(what, "must be specified"), strings.Contains(what, "not allowed in this context"),
		strings.Contains(what, "could not find flow"), strings.Contains(what, "end token"):
		what += quote
	}
	return s.errorf(at, "YAML: %s", what)
}

// start is where a node begins: a mapping at its first key.
func start(n ast.Node) place {
	switch n := n.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return start(n.Values[0].Key)
		}
	case *ast.MappingValueNode:
		return start(n.Key)
	case *ast.LiteralNode:
		return tokenPlace(n.Start)
	}
	return tokenPlace(n.GetToken())
}

func tokenPlace(t *token.Token) place {
	if t == nil || t.Position == nil {
		return place{1, 1}
	}
	return place{t.Position.Line, t.Position.Column}
}
