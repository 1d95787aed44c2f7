package scenarios

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"bucketproof/bucket/limiterfile"
)

// Parse reads a scenario file. An error is one line: the place as
// name:line:column, what is wrong there and what to do.
func Parse(name string, data []byte) (*Scenario, error) {
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, placed(name, err)
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return nil, fmt.Errorf("%s:1:1: the file is empty, want at least name, limit, instances and phases", name)
	}
	if len(file.Docs) > 1 {
		return nil, fmt.Errorf("%s: %d documents in one file, want one scenario a file", name, len(file.Docs))
	}
	body := file.Docs[0].Body
	if err := limiterInstead(name, body); err != nil {
		return nil, placed(name, err)
	}
	var s Scenario
	if err := decode(body, &s); err != nil {
		return nil, placed(name, plain(err, body))
	}
	if err := asWritten(body); err != nil {
		return nil, placed(name, err)
	}
	if err := s.validate(); err != nil {
		var fe *fieldError
		if errors.As(err, &fe) {
			return nil, placed(name, &placeError{tok: fe.find(file), text: fe.text})
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &s, nil
}

// limiterInstead reports a limiter file that was taken for a scenario: it says how a
// limiter is asked, and nothing of who asks when.
func limiterInstead(name string, body ast.Node) error {
	fields, ok := body.(*ast.MappingNode)
	if !ok {
		return nil
	}
	var kind *ast.MappingValueNode
	for _, f := range fields.Values {
		switch key := f.Key.GetToken().Value; key {
		case "instances", "phases":
			return nil
		case string(limiterfile.Script), string(limiterfile.Source), string(limiterfile.Command), string(limiterfile.HTTP), string(limiterfile.Exec):
			kind = f
		}
	}
	if kind == nil {
		return nil
	}
	return at(kind.Key, "this looks like a limiter file, for it says `%s`, and not like a scenario; write `harness run --limiter %s`", kind.Key.GetToken().Value, name)
}

func decode(n ast.Node, v any) error {
	return yaml.NodeToValue(n, v, yaml.Strict())
}

// placeError is a mistake at a token of a YAML file.
type placeError struct {
	tok  *token.Token
	text string
}

func (e *placeError) Error() string          { return e.text }
func (e *placeError) GetToken() *token.Token { return e.tok }
func (e *placeError) GetMessage() string     { return e.text }

// at is a mistake at a node.
func at(n ast.Node, format string, args ...any) error {
	return &placeError{tok: n.GetToken(), text: fmt.Sprintf(format, args...)}
}

// placed renders err as one line with its place in the file.
func placed(name string, err error) error {
	var e interface {
		GetToken() *token.Token
		GetMessage() string
	}
	if !errors.As(err, &e) {
		line, _, _ := strings.Cut(err.Error(), "\n")
		return fmt.Errorf("%s: %s", name, line)
	}
	text := strings.Join(strings.Fields(e.GetMessage()), " ")
	var unknown *yaml.UnknownFieldError
	if errors.As(err, &unknown) {
		text += ", see `harness list scenario NAME` for examples"
	}
	if tok := e.GetToken(); tok != nil && tok.Position != nil {
		return fmt.Errorf("%s:%d:%d: %s", name, tok.Position.Line, tok.Position.Column, text)
	}
	return fmt.Errorf("%s: %s", name, text)
}

// fieldError is a mistake in a field that decoded well.
type fieldError struct {
	path string // as in YAMLPath, $.phases[2].open.rate
	text string
}

func (e *fieldError) Error() string { return strings.TrimPrefix(e.path, "$.") + ": " + e.text }

func wrong(path, format string, args ...any) error {
	return &fieldError{path: path, text: fmt.Sprintf(format, args...)}
}

// find is the token of the field, or of the nearest enclosing one that exists.
func (e *fieldError) find(file *ast.File) *token.Token {
	for path := e.path; path != ""; path = parent(path) {
		p, err := yaml.PathString(path)
		if err != nil {
			continue
		}
		if n, err := p.FilterFile(file); err == nil && n != nil {
			return n.GetToken()
		}
	}
	return file.Docs[0].Body.GetToken()
}

// parent cuts the last step off a YAMLPath.
func parent(path string) string {
	if i := strings.LastIndexAny(path, ".["); i > 0 {
		return path[:i]
	}
	return ""
}
