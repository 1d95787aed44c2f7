package limiterfile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// field is one entry of a mapping.
type field struct {
	name  string
	at    place // of the name
	value ast.Node
}

// fields reads a mapping whose names must be among known (nil: any name).
// what names the mapping in messages.
func (s *source) fields(n ast.Node, what string, known []string) ([]field, error) {
	m, ok := n.(*ast.MappingNode)
	if !ok {
		return nil, s.errorf(start(n), "%s is %s, want fields%s", what, describe(n), list(known))
	}
	var out []field
	for _, v := range m.Values {
		f := field{at: start(v.Key), value: v.Value}
		key, ok := v.Key.(*ast.StringNode)
		if !ok {
			return nil, s.errorf(f.at, "`%s` is no field name, want names%s", v.Key.GetToken().Value, list(known))
		}
		f.name = key.Value
		if known != nil && !slices.Contains(known, f.name) {
			return nil, s.errorf(f.at, "unknown field `%s` in %s, %s", f.name, what, hint(f.name, known))
		}
		if i := slices.IndexFunc(out, func(o field) bool { return o.name == f.name }); i >= 0 {
			return nil, s.errorf(f.at, "duplicate field `%s`, first given in line %d; remove one", f.name, out[i].at.line)
		}
		if _, empty := f.value.(*ast.NullNode); empty || f.value == nil {
			return nil, s.errorf(f.at, "field `%s` has no value; give one or remove the field", f.name)
		}
		out = append(out, f)
	}
	return out, nil
}

// items reads a list with at least one entry.
func (s *source) items(f field, want string) ([]ast.Node, error) {
	list, ok := f.value.(*ast.SequenceNode)
	if !ok {
		return nil, s.errorf(start(f.value), "`%s` is %s, want a list such as %s", f.name, describe(f.value), want)
	}
	if len(list.Values) == 0 {
		return nil, s.errorf(start(f.value), "`%s` is an empty list, want a list such as %s", f.name, want)
	}
	return list.Values, nil
}

// text reads a scalar that is meant as text or as an expression; numbers and
// booleans are taken as they are written. what names it in messages, want says
// what is expected.
func (s *source) text(n ast.Node, what, want string) (scalar, error) {
	switch n := n.(type) {
	case *ast.StringNode:
		return s.scalar(n.Value, n), nil
	case *ast.LiteralNode:
		return s.scalar(n.Value.Value, n), nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return s.scalar(n.GetToken().Value, n), nil
	}
	if n == nil {
		return scalar{}, s.errorf(place{1, 1}, "%s is empty, want %s", what, want)
	}
	return scalar{}, s.errorf(start(n), "%s is %s, want %s", what, describe(n), want)
}

// word reads a string, and nothing that YAML takes for another type.
func (s *source) word(f field, want string) (scalar, error) {
	switch f.value.(type) {
	case *ast.StringNode, *ast.LiteralNode:
		return s.text(f.value, "`"+f.name+"`", want)
	}
	return scalar{}, s.errorf(start(f.value), "`%s` is %s, want %s", f.name, describe(f.value), want)
}

// oneOf reads a string that must be among known.
func (s *source) oneOf(f field, known ...string) (string, error) {
	w, err := s.word(f, "one of "+strings.Join(known, ", "))
	if err != nil {
		return "", err
	}
	if !slices.Contains(known, w.text) {
		return "", s.errorf(w.at, "unknown %s `%s`, %s", f.name, w.text, hint(w.text, known))
	}
	return w.text, nil
}

// describe names what a node is, as a user would.
func describe(n ast.Node) string {
	switch n := n.(type) {
	case nil, *ast.NullNode:
		return "empty"
	case *ast.StringNode, *ast.LiteralNode:
		return "text"
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "the number " + n.GetToken().Value
	case *ast.BoolNode:
		return fmt.Sprintf("the boolean %v", n.Value)
	case *ast.SequenceNode:
		return "a list"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		return "an anchor or an alias (not used in limiter files: write the value out)"
	case *ast.TagNode:
		return "a tagged value (not used in limiter files: remove the `!` tag)"
	}
	return "something else"
}

// list renders names behind a colon; where any name will do, an example.
func list(names []string) string {
	if len(names) == 0 {
		return ", as in {name: value}"
	}
	return ": " + strings.Join(names, ", ")
}
