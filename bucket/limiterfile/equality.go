package limiterfile

import "github.com/expr-lang/expr/ast"

// equality is what most files say of `allowed`: that the reply, or an element
// of it, is a certain whole number. It is looked at for every answer of a
// limiter, and needs no virtual machine.
type equality struct {
	index int // of the element; -1: the reply itself
	want  int64
}

// asEquality returns the equality that n is: `reply == 1`, `reply[0] == 1`; nil
// when it is another expression.
func asEquality(n ast.Node) *equality {
	b, ok := n.(*ast.BinaryNode)
	if !ok || b.Operator != "==" {
		return nil
	}
	want, ok := b.Right.(*ast.IntegerNode)
	if !ok {
		return nil
	}
	q := &equality{index: -1, want: int64(want.Value)}
	of := b.Left
	if m, ok := of.(*ast.MemberNode); ok && !m.Optional {
		index, ok := m.Property.(*ast.IntegerNode)
		if !ok || index.Value < 0 {
			return nil
		}
		q.index, of = index.Value, m.Node
	}
	if id, ok := of.(*ast.IdentifierNode); !ok || id.Value != names[nameReply].spelling {
		return nil
	}
	return q
}

// holds reports whether q holds for reply. It does not know when there is no
// whole number where q looks for one.
func (q *equality) holds(reply any) (holds, known bool) {
	if q.index >= 0 {
		list, ok := reply.([]any)
		if !ok || q.index >= len(list) {
			return false, false
		}
		reply = list[q.index]
	}
	n, known := reply.(int64)
	return n == q.want, known
}
