package limiterfile

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/types"
	"github.com/expr-lang/expr/vm"
)

// Expr is one compiled expression. It is immutable and safe for concurrent
// use; the zero Expr is no expression.
type Expr struct {
	text    scalar
	offset  int // of the expression in text, in characters
	what    string
	uses    nameSet
	plain   name // the expression is this name alone
	program *vm.Program
	fixed   any       // the value, when no name is used
	equal   *equality // nil: not that simple
	kind    exprKind
}

type exprKind uint8

const (
	exprNone exprKind = iota
	exprName          // one name: no virtual machine is needed
	exprFixed
	exprProgram
)

// Defined reports whether e is an expression at all.
func (e *Expr) Defined() bool { return e.kind != exprNone }

// want is what an expression must yield.
type want string

const (
	wantWord   want = "a number, text or a boolean" // what can be sent
	wantTruth  want = "true or false"
	wantNumber want = "a number"
)

// compile compiles the expression that code is, which stands at the given
// offset of the text; what names it in messages ("args[1]").
func compile(text scalar, offset int, code, what string, known []name, w want) (Expr, error) {
	e := Expr{text: text, offset: offset, what: what}
	trimmed := strings.TrimSpace(code)
	if trimmed == "" {
		return e, e.errorf(0, "%s is empty, want an expression", what)
	}
	scopeTypes, spellings := types.Map{}, []string{}
	for _, n := range known {
		scopeTypes[names[n].spelling] = names[n].kind
		spellings = append(spellings, names[n].spelling)
		if names[n].spelling == trimmed {
			e.kind, e.plain = exprName, n
		}
	}
	options := []expr.Option{expr.Env(scopeTypes)}
	for _, clock := range clockFunctions {
		options = append(options, expr.DisableBuiltin(clock))
	}
	program, err := compileSafely(code, options)
	if err != nil {
		return e, e.compileError(err, spellings)
	}
	e.equal = asEquality(program.Node())
	if err := e.collect(program.Node(), known); err != nil {
		return e, err
	}
	if err := e.fits(program.Node().Type(), w); err != nil {
		return e, err
	}
	if e.program, err = compileSafely(code, append(options, comparisons()...)); err != nil {
		return e, e.compileError(err, spellings)
	}
	switch {
	case e.kind == exprName:
	case e.uses == 0:
		e.kind = exprProgram
		if e.fixed, err = e.run(&scope{}); err != nil {
			return e, err
		}
		e.kind = exprFixed
		if w == wantWord {
			_, err = e.append(nil, &scope{})
			return e, err
		}
	default:
		e.kind = exprProgram
	}
	return e, nil
}

// clockFunctions are the functions of expr that read a clock or a time zone.
var clockFunctions = []string{"now", "date", "duration", "timezone"}

// compileSafely is expr.Compile, whose panics on odd input become errors.
func compileSafely(code string, options []expr.Option) (p *vm.Program, err error) {
	defer func() {
		if r := recover(); r != nil {
			p, err = nil, fmt.Errorf("the expression cannot be compiled (%v)", r)
		}
	}()
	return expr.Compile(code, options...)
}

// compileError gives an error of the compiler its place and a hint.
func (e *Expr) compileError(err error, known []string) error {
	var f *file.Error
	if !errors.As(err, &f) {
		return e.errorf(0, "%s: %v", e.what, err)
	}
	if unknown, ok := strings.CutPrefix(f.Message, "unknown name "); ok {
		return e.errorf(f.From, "%s: unknown name `%s`%s", e.what, unknown, unknownHint(unknown, known))
	}
	switch f.Message {
	case `unexpected token Operator("=")`:
		return e.errorf(f.From, "%s: a single `=`; compare with `==`", e.what)
	case "unexpected token EOF":
		return e.errorf(f.From, "%s: the expression ends too early; add what belongs behind it", e.what)
	}
	if strings.Contains(f.Message, "mismatched types") {
		return e.errorf(f.From, "%s: %s; write a number without quotes, and convert text as in `float(reply[1])`", e.what, f.Message)
	}
	return e.errorf(f.From, "%s: %s", e.what, f.Message)
}

// unknownHint says what to do about an unknown name in an expression.
func unknownHint(unknown string, known []string) string {
	switch unknown {
	case "reply":
		return ": it exists in `reply`, of a limiter on Redis"
	case "status", "headers", "body":
		return ": it exists in `reply`, of an `http` limiter"
	case "$env":
		return ": use the names themselves"
	}
	if slices.Contains(clockFunctions, unknown) {
		return ": time is an input here; use now_s, now_ms, now_us or now_ns"
	}
	var functions []string
	for _, f := range builtin.Builtins {
		functions = append(functions, f.Name)
	}
	if k := nearest(unknown, functions, 1); k != "" {
		return fmt.Sprintf(", did you mean `%s`?", k)
	}
	text := ", " + hint(unknown, known)
	if strings.Contains(text, "known:") {
		text += fmt.Sprintf("; constant text has quotes of its own: \"'%s'\"", unknown)
	}
	return text
}

// collect notes which names the expression uses whose syntax tree node is.
func (e *Expr) collect(node ast.Node, known []name) error {
	found := &identifiers{}
	ast.Walk(&node, found)
	for _, id := range found.nodes {
		if id.Value == "$env" {
			return e.errorf(id.Location().From, "%s: unknown name `$env`%s", e.what, unknownHint("$env", nil))
		}
		for _, n := range known {
			if names[n].spelling == id.Value {
				e.uses.add(n)
			}
		}
	}
	return nil
}

// identifiers collects the identifiers of a syntax tree.
type identifiers struct{ nodes []*ast.IdentifierNode }

func (v *identifiers) Visit(n *ast.Node) {
	if id, ok := (*n).(*ast.IdentifierNode); ok {
		v.nodes = append(v.nodes, id)
	}
}

// fits checks the type of the result as far as the compiler knows it.
func (e *Expr) fits(t reflect.Type, w want) error {
	if t == nil || t.Kind() == reflect.Interface {
		return nil // known only when it runs
	}
	number := t.Kind() >= reflect.Int && t.Kind() <= reflect.Float64
	truth := t.Kind() == reflect.Bool
	text := t.Kind() == reflect.String
	if w == wantTruth && truth || w == wantNumber && number || w == wantWord && (number || truth || text) {
		return nil
	}
	return e.errorf(0, "%s is %s, want %s", e.what, kindName(t), w)
}

// machine is a virtual machine and the map it reads names from.
type machine struct {
	vm  vm.VM
	env map[string]any
}

var machines = sync.Pool{New: func() any { return &machine{env: make(map[string]any, nameCount)} }}

// run evaluates e. The error is an [Error] with the place inside e.
func (e *Expr) run(s *scope) (any, error) {
	switch e.kind {
	case exprFixed:
		return e.fixed, nil
	case exprName:
		v, err := s.value(e.plain)
		return v, e.at(0, err)
	}
	m := machines.Get().(*machine)
	defer func() {
		clear(m.env)
		machines.Put(m)
	}()
	for n := range nameCount {
		if !e.uses.has(n) {
			continue
		}
		v, err := s.value(n)
		if err != nil {
			return nil, e.at(0, err)
		}
		m.env[names[n].spelling] = v
	}
	v, err := m.vm.Run(e.program, m.env)
	if err != nil {
		return nil, e.runError(err)
	}
	return v, nil
}

// runError gives an error of the virtual machine its place.
func (e *Expr) runError(err error) error {
	var f *file.Error
	if errors.As(err, &f) {
		return e.errorf(f.From, "%s: %s", e.what, f.Message)
	}
	return e.at(0, err)
}

// append appends the value of e as it is sent.
func (e *Expr) append(b []byte, s *scope) ([]byte, error) {
	if e.kind == exprName {
		b, err := s.append(b, e.plain)
		return b, e.at(0, err)
	}
	v, err := e.run(s)
	if err != nil {
		return b, err
	}
	b, err = appendValue(b, v)
	return b, e.at(0, err)
}

// errorf makes an Error at the n-th character of the expression.
func (e *Expr) errorf(n int, format string, args ...any) *Error {
	return e.text.src.errorf(e.text.place(e.offset+n), format, args...)
}

// at gives err the place of the n-th character; nil stays nil.
func (e *Expr) at(n int, err error) error {
	if err == nil {
		return nil
	}
	out := e.errorf(n, "%s: %v", e.what, err)
	out.Cause = err
	return out
}
