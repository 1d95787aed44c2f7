package limiterfile

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"bucketproof/bucket"

	"github.com/goccy/go-yaml/ast"
)

// decoder turns the YAML tree into a File, one method a field.
type decoder struct {
	src  *source
	open func(string) ([]byte, error)
	file *File
	uses nameSet // names that any expression uses
}

// topFields are the fields of a limiter file, in the order in which they are
// read: the kind says what the others may hold.
var topFields = []struct {
	name string
	read func(*decoder, field) error
}{
	{"name", (*decoder).name},
	{"contract", (*decoder).contract},
	{"script", (*decoder).script},
	{"source", (*decoder).source},
	{"command", (*decoder).command},
	{"http", (*decoder).http},
	{"exec", (*decoder).exec},
	{"keys", (*decoder).keys},
	{"args", (*decoder).args},
	{"reply", (*decoder).reply},
	{"time", (*decoder).time},
	{"granularity", (*decoder).granularity},
	{"state", (*decoder).state},
	{"model", (*decoder).model},
	{"limit", (*decoder).limit},
	{"expect", (*decoder).expect},
}

func (d *decoder) decode(root node) error {
	var known []string
	for _, f := range topFields {
		known = append(known, f.name)
	}
	if err := d.scenarioInstead(root); err != nil {
		return err
	}
	fields, err := d.src.fields(root, "the limiter file", known)
	if err != nil {
		return err
	}
	for _, f := range fields {
		d.file.places[f.name] = f.at
	}
	if err := d.chooseKind(fields); err != nil {
		return err
	}
	for _, top := range topFields {
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == top.name })
		if i < 0 {
			continue
		}
		if err := top.read(d, fields[i]); err != nil {
			return err
		}
	}
	return d.finish(start(root))
}

// scenarioInstead reports a scenario file that was taken for a limiter: it says who
// asks when, and not how a limiter is asked.
func (d *decoder) scenarioInstead(root node) error {
	m, ok := root.(*ast.MappingNode)
	if !ok {
		return nil
	}
	var load node
	for _, v := range m.Values {
		switch name := v.Key.GetToken().Value; {
		case slices.Contains(kinds, name):
			return nil
		case name == "instances" || name == "phases":
			load = v.Key
		}
	}
	if load == nil {
		return nil
	}
	return d.src.errorf(start(load), "this looks like a scenario, for it says `%s`, and not like a limiter file; write `harness run %s`", load.GetToken().Value, d.src.name)
}

// kinds are the fields that say how a limiter is asked.
var kinds = []string{string(Script), string(Source), string(Command), string(HTTP), string(Exec)}

// chooseKind finds the one field that says how the limiter is asked.
func (d *decoder) chooseKind(fields []field) error {
	for _, f := range fields {
		if !slices.Contains(kinds, f.name) {
			continue
		}
		if d.file.Kind != "" {
			return d.src.errorf(f.at, "`%s` beside `%s`: a limiter is asked in one way; keep one of them", f.name, d.file.Kind)
		}
		d.file.Kind = Kind(f.name)
	}
	return nil
}

// finish checks what no single field can know, and fills in the defaults.
func (d *decoder) finish(at place) error {
	f := d.file
	switch {
	case f.Name == "":
		return d.src.errorf(at, "`name` is missing; add a line such as `name: my-limiter`")
	case f.Kind == "":
		return d.src.errorf(at, "nothing says how the limiter is asked; add one of %s", strings.Join(kinds, ", "))
	case len(f.Keys) == 0 && (f.Kind == Script || f.Kind == Source):
		return d.src.errorf(at, "`keys` is missing; add a line such as `keys: [\"rl:${key}\"]`")
	case !f.Reply.Allowed.Defined() && f.Kind == HTTP:
		return d.src.errorf(at, "`reply` is missing; add a line such as `reply: {allowed: status == 200, denied: status == 429}`")
	case !f.Reply.Allowed.Defined() && f.Kind != Exec:
		return d.src.errorf(at, "`reply` is missing; add a line such as `reply: {allowed: reply == 1}`")
	case len(f.Keys) == 0 && f.State != nil && f.Kind != Command:
		return d.src.errorf(f.places["state"], "`state` without `keys`: nothing says under which keys in Redis; add a line such as `keys: [\"rl:${key}\"]`")
	}
	if f.Kind == Command && len(f.Keys) == 0 {
		if err := d.commandKeys(); err != nil {
			return err
		}
	}
	if f.Time == "" {
		f.Time = bucket.ServerTime
		if d.uses&nowNames != 0 || f.Kind == Exec {
			f.Time = bucket.CallerTime
		}
	}
	f.UsesCost = d.uses.has(nameCost) || f.Kind == Exec    // the JSON lines always carry it
	f.UsesLimit = d.uses&limitNames != 0 || f.Kind == Exec // as its environment does the limit
	f.Doubt = d.clockDoubt()
	return d.checkModel()
}

// checkModel compares the reference that the limiter names with the rest.
func (d *decoder) checkModel() error {
	f := d.file
	m, ok := models[f.Model]
	switch {
	case !ok:
		return nil
	case f.Time != m.time:
		return d.src.errorf(f.places["model"], "model %s decides by the %s's clock, but `time` is %s; change one", f.Model, m.time, f.Time)
	case f.Contract != bucket.TokenBucket:
		return d.src.errorf(f.places["model"], "model %s is a token bucket, but `contract` is %s; change one", f.Model, f.Contract)
	case f.State == nil || !f.State.Tokens.Defined() || !f.State.Time.Defined():
		return d.src.errorf(f.places["model"], "replaying against %s needs to read the state; add `state: {tokens: …, time: …}`", f.Model)
	}
	return nil
}

var folderName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

func (d *decoder) name(f field) error {
	t, err := d.src.text(f.value, "`name`", "text")
	if err != nil {
		return err
	}
	if !folderName.MatchString(t.text) || strings.HasSuffix(t.text, ".") {
		return d.src.errorf(t.at, "name %.70q cannot name a folder; use 1 to 64 letters, digits, `.`, `_` or `-`, a letter or digit first, no `.` last", t.text)
	}
	d.file.Name = t.text
	return nil
}

func (d *decoder) contract(f field) error {
	c, err := d.src.oneOf(f, string(bucket.TokenBucket), string(bucket.SlidingWindow), string(bucket.FixedWindow))
	d.file.Contract = bucket.Contract(c)
	return err
}

func (d *decoder) time(f field) error {
	t, err := d.src.oneOf(f, string(bucket.CallerTime), string(bucket.ServerTime))
	d.file.Time = bucket.TimeSource(t)
	return err
}

func (d *decoder) granularity(f field) error {
	t, err := d.src.text(f.value, "`granularity`", "a duration such as 1ms")
	if err != nil {
		return err
	}
	g, err := time.ParseDuration(t.text)
	switch {
	case err != nil:
		return d.src.errorf(t.at, "granularity `%s` is no duration; write a number with a unit, such as 1ms or 1us", t.text)
	case g <= 0:
		return d.src.errorf(t.at, "granularity `%s` is not above 0; a clock has a smallest step, such as 1ms or 1us", t.text)
	}
	d.file.Granularity = g
	return nil
}
