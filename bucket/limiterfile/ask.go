package limiterfile

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// node is one node of the YAML tree.
type node = ast.Node

// script reads the Lua file that the field names.
func (d *decoder) script(f field) error {
	t, err := d.src.word(f, "the name of a Lua file beside this one")
	if err != nil {
		return err
	}
	if strings.TrimSpace(t.text) == "" {
		return d.src.errorf(t.at, "`script` is empty, want the name of a Lua file beside this one")
	}
	if d.open == nil {
		return d.src.errorf(t.at, "script `%s` cannot be read here; give the Lua text in `source`", t.text)
	}
	lua, err := d.open(t.text)
	if err != nil {
		e := d.src.errorf(t.at, "script `%s`: %v; the name counts from this file's folder", t.text, err)
		e.Cause = err
		return e
	}
	if strings.TrimSpace(string(lua)) == "" {
		return d.src.errorf(t.at, "script `%s` is empty; put the limiter's Lua into it", t.text)
	}
	d.file.Script, d.file.ScriptPath = string(lua), t.text
	return nil
}

// source takes the Lua text from the file itself.
func (d *decoder) source(f field) error {
	t, err := d.src.word(f, "Lua text, as in `source: |` with the text indented below")
	if err != nil {
		return err
	}
	if strings.TrimSpace(t.text) == "" {
		return d.src.errorf(t.at, "`source` is empty; put the limiter's Lua below `source: |`")
	}
	d.file.Script = t.text
	d.file.below = -1
	if t.style == token.LiteralType {
		d.file.below = t.at.line
	}
	return nil
}

func (d *decoder) command(f field) (err error) {
	d.file.Command, err = d.templates(f, `["CL.THROTTLE", "${key}", "15", "30", "60"]`, requestNames)
	return err
}

func (d *decoder) keys(f field) (err error) {
	d.file.Keys, err = d.templates(f, `["rl:${key}"]`, requestNames)
	if err != nil {
		return err
	}
	if !d.file.Keys[0].uses().has(nameKey) {
		items, _ := d.src.items(f, "")
		return d.src.errorf(start(items[0]), "keys[0] does not hold `${key}`: all buckets and all runs would share it; write \"rl:${key}\"")
	}
	return nil
}

// commandKeys takes the words of a command that hold ${key} for its keys.
func (d *decoder) commandKeys() error {
	for _, t := range d.file.Command {
		if t.uses().has(nameKey) {
			d.file.Keys = append(d.file.Keys, t)
		}
	}
	if len(d.file.Keys) == 0 {
		return d.src.errorf(d.file.places["command"], "no word of `command` holds `${key}`: all buckets would share one; add \"${key}\"")
	}
	return nil
}

func (d *decoder) args(f field) error {
	if k := d.file.Kind; k != Script && k != Source && k != "" {
		if k == Exec {
			return d.src.errorf(f.at, "`args` belongs to a script; a program finds RATE and CAPACITY in its environment and the rest in each line")
		}
		return d.src.errorf(f.at, "`args` belongs to a script; put the values into `%s`", k)
	}
	if list, ok := f.value.(*ast.SequenceNode); ok && len(list.Values) == 0 {
		return nil // a script without ARGV
	}
	items, err := d.src.items(f, "[rate, capacity, now_ms]")
	if err != nil {
		return err
	}
	for i, item := range items {
		what := fmt.Sprintf("args[%d]", i)
		e, err := d.expr(item, what, requestNames, wantWord)
		if err != nil {
			return err
		}
		d.file.Args = append(d.file.Args, e)
	}
	return nil
}

// templates reads a list of texts.
func (d *decoder) templates(f field, want string, known []name) ([]Template, error) {
	items, err := d.src.items(f, want)
	if err != nil {
		return nil, err
	}
	var out []Template
	for i, item := range items {
		t, err := d.template(item, fmt.Sprintf("%s[%d]", f.name, i), known)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// one reads a field that is a text.
func (d *decoder) one(f field) (Template, error) {
	return d.template(f.value, f.name, requestNames)
}

func (d *decoder) template(n node, what string, known []name) (Template, error) {
	text, err := d.src.text(n, what, "text")
	if err != nil {
		return Template{}, err
	}
	if text.text == "" {
		return Template{}, d.src.errorf(text.at, "%s is empty, want text", what)
	}
	t, err := d.src.template(text, what, known)
	d.uses |= t.uses()
	return t, err
}

func (d *decoder) expr(n node, what string, known []name, w want) (Expr, error) {
	text, err := d.src.text(n, what, "an expression")
	if err != nil {
		return Expr{}, err
	}
	e, err := compile(text, 0, text.text, what, known, w)
	d.uses |= e.uses
	return e, err
}
