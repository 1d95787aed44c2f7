package scenarios

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// Fields by what may not be written in them, though a scenario that leaves them
// out is right: once decoded the two look the same.
var (
	wholeFields = []string{"burst", "count", "in_flight", "repeat", "workers"}
	aboveFields = []string{"burst", "cost", "count", "repeat"}
	filledLists = []string{"drift", "for", "from", "jitter", "limit", "load", "parallel", "phases", "spread", "step", "strobe"}
	filledMaps  = []string{"sweep"}
)

// asWritten reports the first mistake that decoding hides.
func asWritten(body ast.Node) error {
	w := &writtenWalk{}
	ast.Walk(w, body)
	return w.err
}

type writtenWalk struct{ err error }

// Visit looks at one field.
func (w *writtenWalk) Visit(n ast.Node) ast.Visitor {
	if w.err != nil {
		return nil
	}
	if field, ok := n.(*ast.MappingValueNode); ok && field.Value != nil {
		w.err = fieldAsWritten(field.Key.String(), field.Value)
	}
	return w
}

func fieldAsWritten(name string, value ast.Node) error {
	switch v := value.(type) {
	case *ast.NullNode:
		return at(value, "%s has no value, give it one or leave it out", name)
	case *ast.FloatNode:
		return numberAsWritten(name, v.Value, value)
	case *ast.IntegerNode, *ast.StringNode: // "1.5" is as good as 1.5
		if number, err := strconv.ParseFloat(fmt.Sprint(v.(ast.ScalarNode).GetValue()), 64); err == nil {
			return numberAsWritten(name, number, value)
		}
	case *ast.SequenceNode:
		if slices.Contains(filledLists, name) && len(v.Values) == 0 {
			return at(value, "%s is an empty list, fill it or leave it out", name)
		}
	case *ast.MappingNode:
		if slices.Contains(filledMaps, name) && len(v.Values) == 0 {
			return at(value, "%s is empty, write one, such as load: [0.5, 2], or leave it out", name)
		}
	}
	return nil
}

func numberAsWritten(name string, v float64, value ast.Node) error {
	switch {
	case slices.Contains(wholeFields, name) && v != math.Trunc(v):
		return at(value, "%s is %v, want a whole number", name, v)
	case slices.Contains(aboveFields, name) && v == 0:
		return at(value, "%s is 0, want more, or leave it out", name)
	}
	return nil
}

// plain is a decoder's error in the words of the file: which field wants what,
// and what is there.
func plain(err error, body ast.Node) error {
	var kind *yaml.TypeError
	var large *yaml.OverflowError
	var shape *yaml.UnexpectedNodeTypeError
	switch {
	case errors.As(err, &kind):
		return wanted(body, kind.Token, kindWanted(kind.DstType))
	case errors.As(err, &large):
		return wanted(body, large.Token, "a smaller number")
	case errors.As(err, &shape) && shape.Expected == ast.SequenceType:
		return wanted(body, shape.Token, "a list")
	case errors.As(err, &shape) && shape.Expected == ast.MappingType:
		return wanted(body, shape.Token, "fields, as in {name: value}")
	}
	return err
}

func kindWanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Float64:
		return "a number"
	case reflect.Int:
		return "a whole number"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	}
	return "a word"
}

// wanted is the mistake at tok that something else is wanted there.
func wanted(body ast.Node, tok *token.Token, what string) error {
	find := &finding{tok: tok}
	ast.Walk(find, body)
	if find.node == nil {
		return &placeError{tok: tok, text: "want " + what}
	}
	path := strings.TrimPrefix(find.node.GetPath(), "$.")
	return &placeError{tok: tok, text: fmt.Sprintf("%s: want %s, got %s", path, what, shown(find.node))}
}

// finding is a walk to the value at a token.
type finding struct {
	tok  *token.Token
	node ast.Node
}

// Visit compares one node.
func (f *finding) Visit(n ast.Node) ast.Visitor {
	if f.node != nil {
		return nil
	}
	if _, field := n.(*ast.MappingValueNode); !field && n.GetToken() == f.tok {
		f.node = n
	}
	return f
}

// shown is what stands in the file, in a few words.
func shown(n ast.Node) string {
	switch v := n.(type) {
	case *ast.StringNode:
		return fmt.Sprintf("%q", v.Value)
	case *ast.SequenceNode:
		return "a list"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "fields"
	}
	return scalar(n)
}
