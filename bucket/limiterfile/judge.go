package limiterfile

import (
	"math"
	"strconv"
	"strings"

	"bucketproof/bucket"

	"github.com/goccy/go-yaml/ast"
)

// reply compiles the expressions that read an answer.
func (d *decoder) reply(f field) error {
	known := replyNames
	switch d.file.Kind {
	case HTTP:
		known = httpNames
	case Exec:
		return d.src.errorf(f.at, "`reply` has no meaning with `exec`, whose answers are JSON lines; remove it")
	}
	fields, err := d.src.fields(f.value, "`reply`", []string{"allowed", "denied", "remaining", "retry_after"})
	if err != nil {
		return err
	}
	r := &d.file.Reply
	targets := map[string]struct {
		to *Expr
		w  want
	}{
		"allowed":     {&r.Allowed, wantTruth},
		"denied":      {&r.Denied, wantTruth},
		"remaining":   {&r.Remaining, wantNumber},
		"retry_after": {&r.RetryAfter, wantNumber},
	}
	for _, f := range fields {
		t := targets[f.name]
		if *t.to, err = d.expr(f.value, f.name, known, t.w); err != nil {
			return err
		}
	}
	if !r.Allowed.Defined() {
		return d.src.errorf(f.at, "`reply` does not say what `allowed` is; add allowed: reply == 1")
	}
	return nil
}

func (d *decoder) state(f field) error {
	fields, err := d.src.fields(f.value, "`state`", []string{"tokens", "time"})
	if err != nil {
		return err
	}
	s := &StateFields{}
	for _, f := range fields {
		t, err := d.src.text(f.value, "state "+f.name, "`hash FIELD` or `string`")
		if err != nil {
			return err
		}
		var at StateField
		words := strings.Fields(t.text)
		switch {
		case len(words) == 1 && words[0] == "string":
			at.String = true
		case len(words) == 2 && words[0] == "hash":
			at.Hash = words[1]
		default:
			return d.src.errorf(t.at, "state %s is `%s`, want `hash FIELD` or `string`", f.name, t.text)
		}
		if f.name == "tokens" {
			s.Tokens = at
		} else {
			s.Time = at
		}
	}
	if len(fields) == 0 {
		return d.src.errorf(start(f.value), "`state` is empty; name tokens, time or both, or remove it")
	}
	d.file.State = s
	return nil
}

// models are the references that a limiter can be replayed against.
var models = map[string]struct {
	rule bucket.Rule
	time bucket.TimeSource
}{
	"app-clock":           {bucket.RuleAppClock, bucket.CallerTime},
	"app-clock-monotonic": {bucket.RuleAppClockMonotonic, bucket.CallerTime},
	"redis-time":          {bucket.RuleRedisTime, bucket.ServerTime},
}

func (d *decoder) model(f field) (err error) {
	d.file.Model, err = d.src.oneOf(f, "app-clock", "app-clock-monotonic", "redis-time")
	return err
}

func (d *decoder) limit(f field) error {
	fields, err := d.src.fields(f.value, "`limit`", []string{"rate", "capacity"})
	if err != nil {
		return err
	}
	var l bucket.Limit
	given := map[string]bool{}
	for _, f := range fields {
		v, err := d.positive(f)
		if err != nil {
			return err
		}
		if err := bucket.Countable(f.name, v); err != nil {
			return d.src.errorf(start(f.value), "%v", err)
		}
		given[f.name] = true
		if f.name == "rate" {
			l.Rate = v
		} else {
			l.Capacity = v
		}
	}
	for _, name := range []string{"rate", "capacity"} {
		if !given[name] {
			return d.src.errorf(f.at, "`limit` has no %s; write limit: {rate: 100, capacity: 50}", name)
		}
	}
	d.file.Limit = &l
	return nil
}

// positive reads a finite number above 0. YAML takes 1e-3 for text, so plain
// text that is a number counts as one.
func (d *decoder) positive(f field) (float64, error) {
	const want = "a number above 0"
	at := start(f.value)
	switch n := f.value.(type) {
	case *ast.InfinityNode, *ast.NanNode:
		return 0, d.src.errorf(at, "%s is not finite, want %s", f.name, want)
	case *ast.IntegerNode, *ast.FloatNode, *ast.StringNode:
		t, _ := d.src.text(n, f.name, want)
		v, err := strconv.ParseFloat(strings.ReplaceAll(t.text, "_", ""), 64)
		if i, ierr := strconv.ParseInt(t.text, 0, 64); ierr == nil {
			v, err = float64(i), nil // hexadecimal and the like
		}
		switch {
		case !t.plain(), err != nil && !math.IsInf(v, 0):
			return 0, d.src.errorf(at, "%s is %q, want %s", f.name, t.text, want)
		case math.IsInf(v, 0) || math.IsNaN(v):
			return 0, d.src.errorf(at, "%s is not finite, want %s", f.name, want)
		case v <= 0:
			return 0, d.src.errorf(at, "%s is %v, want %s", f.name, v, want)
		}
		return v, nil
	}
	return 0, d.src.errorf(at, "%s is %s, want %s", f.name, describe(f.value), want)
}

// checks are the names of the checks that `expect` may name.
var checks = []string{
	"over-admission", "spurious-denial", "accept-rate", "state-audit", "accounting",
	"replay", "linearizability", "fairness", "reply-contract",
}

func (d *decoder) expect(f field) error {
	fields, err := d.src.fields(f.value, "`expect`", checks)
	if err != nil {
		return err
	}
	d.file.Expect = make(map[string]Expectation, len(fields))
	for _, f := range fields {
		t, err := d.src.text(f.value, "expect "+f.name, "pass, fail or any")
		if err != nil {
			return err
		}
		switch e := Expectation(t.text); e {
		case Pass, Fail, Any:
			d.file.Expect[f.name] = e
		default:
			return d.src.errorf(t.at, "verdict `%s` of %s is unknown, want pass, fail or any", t.text, f.name)
		}
	}
	return nil
}
