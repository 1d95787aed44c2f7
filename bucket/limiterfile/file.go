package limiterfile

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"bucketproof/bucket"
)

// Kind is how a limiter is asked, named after the field that says it.
type Kind string

// The kinds. A limiter file has exactly one.
const (
	Script  Kind = "script"  // a Lua file beside the limiter file
	Source  Kind = "source"  // Lua inside the limiter file
	Command Kind = "command" // one command of a module
	HTTP    Kind = "http"    // a gateway
	Exec    Kind = "exec"    // a process per instance that talks JSON lines
)

// Expectation is the verdict that a check is expected to give.
type Expectation string

// The expectations. A check that is not named must pass.
const (
	Pass Expectation = "pass"
	Fail Expectation = "fail"
	Any  Expectation = "any"
)

// File is one limiter file, parsed, compiled and valid. It is immutable and
// safe for concurrent use.
type File struct {
	Name        string // letters, digits, `.`, `_`, `-`: fit for a folder's name
	Path        string // as it was named to Load or Parse
	Contract    bucket.Contract
	Time        bucket.TimeSource // CallerTime or ServerTime
	Granularity time.Duration     // of the clock that decides, above 0
	Kind        Kind

	Script     string     // the Lua text of a script or source
	ScriptPath string     // where Script was read; empty for a source
	Command    []Template // the words of a command
	Gateway    *Gateway   // of an http limiter, else nil
	Exec       []string   // program and arguments of an exec limiter

	Keys  []Template // what is stored in Redis for a request; the first one routes; nil: nothing, as far as is told
	Args  []Expr     // ARGV of a script
	Reply Reply      // zero for exec, whose protocol is fixed

	State  *StateFields           // nil: not told
	Model  string                 // the reference it follows bit for bit; empty: none
	Limit  *bucket.Limit          // the only limit it can keep; nil: any
	Expect map[string]Expectation // by check; nil: all must pass

	UsesCost  bool // some expression uses cost: the limiter takes a cost
	UsesLimit bool // the limiter is told the limit: some expression uses it

	Doubt *Error // what is likely a mistake, and the file valid all the same; nil: nothing is

	src    *source
	places map[string]place // of the top-level fields
	below  int              // the line before the first of a source; -1: its lines are not the file's
}

// StateFields says where a limiter keeps its state, for the state audit. A
// zero StateField is one that is not told.
type StateFields struct {
	Tokens StateField // the level, in tokens
	Time   StateField // when the level was right, in the limiter's ticks
}

// StateField is one number in Redis, under the first of [File.Keys].
type StateField struct {
	Hash   string // the field of a hash; empty with String
	String bool   // the key holds the number itself
}

// Defined reports whether the field is told.
func (s StateField) Defined() bool { return s.String || s.Hash != "" }

// Gateway is how an http limiter is asked.
type Gateway struct {
	Method  string // upper case; GET, or POST with a body, unless given
	URL     Template
	Headers []Header
	Body    Template // empty: none
}

// Header is one header of a request to a [Gateway].
type Header struct {
	Name  string
	Value Template
}

// Rule returns the member of the reference family that f's Model names; false
// when there is none.
func (f *File) Rule() (bucket.Rule, bool) {
	r, ok := models[f.Model]
	return r.rule, ok
}

// Load reads the limiter file at path. Scripts it names are read from its
// folder. A mistake in the file is an [Error].
func Load(path string) (*File, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read limiter file: %w", err)
	}
	beside := func(script string) string {
		if filepath.IsAbs(script) {
			return script
		}
		return filepath.Join(filepath.Dir(path), script)
	}
	f, err := Parse(path, data, func(script string) ([]byte, error) { return os.ReadFile(beside(script)) })
	if err != nil {
		return nil, err
	}
	if f.ScriptPath != "" {
		f.ScriptPath = beside(f.ScriptPath)
	}
	return f, nil
}

// Parse reads a limiter file from memory. name stands for the file in errors;
// open reads a script that the file names. A mistake in the file is an [Error].
func Parse(name string, data []byte, open func(script string) ([]byte, error)) (*File, error) {
	src, data := newSource(name, data)
	root, err := src.root(data)
	if err != nil {
		return nil, err
	}
	d := decoder{src: src, open: open, file: &File{
		Path: name, Contract: bucket.TokenBucket, Granularity: time.Millisecond, src: src, places: map[string]place{},
	}}
	if err := d.decode(root); err != nil {
		return nil, err
	}
	return d.file, nil
}

// Mistake makes an [Error] at one of f's top-level fields, for what only a
// caller can know: that it does not run this kind, say. Without such a field
// it stands at the file's beginning.
func (f *File) Mistake(field, what string) *Error {
	return f.src.errorf(f.places[field], "%s", what)
}

// ScriptMistake makes an [Error] at line n (from 1) of the Lua text: in the
// script's file, or in the limiter file that holds the source. It has no
// column, for Lua tells none; with n of 0 it stands where the script is named.
func (f *File) ScriptMistake(n int, what string) *Error {
	switch {
	case n <= 0:
		return f.Mistake(string(f.Kind), what)
	case f.ScriptPath == "" && f.below < 0:
		return f.Mistake(string(f.Kind), fmt.Sprintf("line %d of the Lua text: %s", n, what))
	}
	e := f.src.errorf(place{f.below + n, 1}, "%s", what)
	e.Column = 0
	if f.ScriptPath != "" {
		e.File, e.Line = f.ScriptPath, n
	}
	return e
}
