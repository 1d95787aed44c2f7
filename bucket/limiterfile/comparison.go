package limiterfile

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm/runtime"
)

// What stands for `==` and `in` where the type of a side is known only when the
// expression runs. No limiter file can hold the names, for they have spaces.
const (
	isEqual = "is equal to"
	isAmong = "is among"
)

// comparisons makes errors of comparisons that never hold whatever the answer is,
// as that of a list with a number: the language finds them false, and a limiter
// whose answer is misread so looks like one that denies everything. They belong to
// an expression that compiles without them: the compiler does not look into calls
// that a patch has made.
func comparisons() []expr.Option {
	return []expr.Option{
		expr.Patch(comparisonPatch{}),
		expr.Function(isEqual, func(sides ...any) (any, error) {
			if why := unlike(sides[0], sides[1]); why != "" {
				return nil, errors.New(why)
			}
			return runtime.Equal(sides[0], sides[1]), nil
		}, new(func(any, any) bool)),
		expr.Function(isAmong, func(sides ...any) (any, error) {
			list, ok := sides[1].([]any)
			if ok && len(list) > 0 && !slices.ContainsFunc(list, func(v any) bool { return unlike(sides[0], v) == "" }) {
				return nil, errors.New(unlike(sides[0], list[0]))
			}
			return runtime.In(sides[0], sides[1]), nil
		}, new(func(any, any) bool)),
	}
}

// comparisonPatch puts the functions in the place of the operators, but for those in
// an alternative: `reply == 1 or reply == true` is for servers that answer either.
type comparisonPatch struct{}

func (comparisonPatch) Visit(n *ast.Node) {
	b, ok := (*n).(*ast.BinaryNode)
	if !ok || isTyped(b.Left) && isTyped(b.Right) && b.Operator != "or" && b.Operator != "||" { // the compiler finds what does not fit
		return
	}
	call := func(function string) *ast.CallNode {
		c := &ast.CallNode{Callee: &ast.IdentifierNode{Value: function}, Arguments: []ast.Node{b.Left, b.Right}}
		c.SetLocation(b.Location())
		return c
	}
	switch b.Operator {
	case "or", "||":
		ast.Walk(n, comparisonRestore{})
	case "==":
		ast.Patch(n, call(isEqual))
	case "!=":
		ast.Patch(n, &ast.UnaryNode{Operator: "not", Node: call(isEqual)})
	case "in":
		if _, ok := b.Right.(*ast.ArrayNode); ok {
			ast.Patch(n, call(isAmong))
		}
	}
}

// comparisonRestore puts the operators back.
type comparisonRestore struct{}

func (comparisonRestore) Visit(n *ast.Node) {
	c, ok := (*n).(*ast.CallNode)
	if !ok || len(c.Arguments) != 2 {
		return
	}
	if f, ok := c.Callee.(*ast.IdentifierNode); ok {
		if operator := map[string]string{isEqual: "==", isAmong: "in"}[f.Value]; operator != "" {
			ast.Patch(n, &ast.BinaryNode{Operator: operator, Left: c.Arguments[0], Right: c.Arguments[1]})
		}
	}
}

// isTyped reports whether the compiler knows a node's type.
func isTyped(n ast.Node) bool {
	t := n.Type()
	return t != nil && t.Kind() != reflect.Interface
}

// unlike says why two values can never be equal, and what to compare instead; ""
// when they can. nil may be compared with everything, and so may a text with a
// number that it does not spell: it may be a word that an answer has in a number's
// place.
func unlike(a, b any) string {
	x, y := sortOf(a), sortOf(b)
	if x == y || x == sortNil || y == sortNil {
		return ""
	}
	if x < y {
		a, b, x, y = b, a, y, x
	}
	if x == sortText && !spells(a.(string), y) {
		return ""
	}
	return fmt.Sprintf("%s is compared with %s, which it never equals; %s", nameOf(a), nameOf(b), comparisonHints[x])
}

// spells reports whether a text could be taken for a value of sort s.
func spells(text string, s valueSort) bool {
	var err error
	if s == sortNumber {
		_, err = strconv.ParseFloat(text, 64)
	} else {
		_, err = strconv.ParseBool(text)
	}
	return err == nil
}

// valueSort is what of an answer's values can be equal. Of two sorts the hint of
// the later one is told.
type valueSort uint8

const (
	sortNil valueSort = iota
	sortNumber
	sortBoolean
	sortText
	sortList
	sortMapping
	sortOther
)

// comparisonHints say what to compare in place of a value.
var comparisonHints = map[valueSort]string{
	sortBoolean: "compare it with true or false; of a script true arrives as 1, and false as nil",
	sortText:    "write both as text, or convert it, as in `float(reply) == 1`",
	sortList:    "compare one of its elements, as in `reply[0] == 1`",
	sortMapping: "compare one of its fields, as in `reply['allowed'] == 1`",
	sortOther:   "compare what is a number, a text or a boolean",
}

func sortOf(v any) valueSort {
	switch v.(type) {
	case nil:
		return sortNil
	case bool:
		return sortBoolean
	case string:
		return sortText
	case error:
		return sortOther
	}
	if _, ok := toFloat(v); ok {
		return sortNumber
	}
	switch reflect.TypeOf(v).Kind() {
	case reflect.Slice, reflect.Array:
		return sortList
	case reflect.Map:
		return sortMapping
	}
	return sortOther
}
