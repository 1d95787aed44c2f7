package scenarios

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"
	"github.com/goccy/go-yaml/ast"
)

// Formulas maps a figure's name to what theory has for it.
type Formulas map[string]Formula

// Formula is what theory predicts of a figure: an expression (expr-lang) over
// the names of formulaNames and the functions min, max, abs, exp and the like.
// Where it yields nil theory is silent. The zero Formula is silent.
type Formula struct {
	text    string
	program *vm.Program
}

// formulaNames are what a formula may use.
var formulaNames = map[string]string{
	"R":      "rate of the limit, tokens/s",
	"C":      "capacity of the limit, tokens",
	"S":      "size of the disturbance, s; of a drift, what it comes to by the end of the run; without one, the spread of the clocks' offsets",
	"P":      "the longest stretch of a strobe, s",
	"T":      "from the first call to the last reply, s",
	"lambda": "requests offered, 1/s",
	"slow":   "requests offered by the group named slow, 1/s",
	"fast":   "requests offered by the group named fast, 1/s",
	"level":  "tokens that an ideal bucket holds when the first clock steps, strobes or stands still; C if none does",
	"after":  "s from then until nobody calls for one fill time, or to the last reply",
}

// figures are what can be predicted, and their units.
var figures = map[string]string{
	"peak_excess":      "tokens",
	"excess_per_s":     "tokens/s",
	"lockout_s":        "s",
	"slow_share":       "share",
	"spurious_denials": "denials",
}

// UnmarshalYAML compiles a formula; a mistake is told with its place.
func (f *Formula) UnmarshalYAML(n ast.Node) error {
	f.text = scalar(n)
	env := map[string]any{}
	for name := range formulaNames {
		env[name] = 1.0
	}
	program, err := expr.Compile(f.text, expr.Env(env),
		expr.Function("exp", func(args ...any) (any, error) { return math.Exp(args[0].(float64)), nil }, new(func(float64) float64)))
	if err != nil {
		var e *file.Error
		if !errors.As(err, &e) {
			return at(n, "%v", err)
		}
		text := e.Message
		if strings.HasPrefix(text, "unknown name") {
			text += ", there are " + strings.Join(keys(formulaNames), ", ")
		}
		return at(n, "formula %q, character %d: %s", f.text, e.From+1, text)
	}
	f.program = program
	if _, _, err := f.of(env); err != nil {
		return at(n, "formula %q: %v", f.text, err)
	}
	return nil
}

// of evaluates f; false where theory is silent.
func (f Formula) of(env map[string]any) (float64, bool, error) {
	if f.program == nil {
		return 0, false, nil
	}
	v, err := expr.Run(f.program, env)
	if err != nil {
		line, _, _ := strings.Cut(err.Error(), "\n")
		return 0, false, errors.New(line)
	}
	switch v := v.(type) {
	case nil:
		return 0, false, nil
	case int:
		return float64(v), true, nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return 0, false, fmt.Errorf("yields %v, want a finite number", v)
		}
		return v, true, nil
	}
	return 0, false, fmt.Errorf("yields %T, want a number or nil", v)
}

// validatePredict reports a prediction of a figure that there is not.
func (s *Scenario) validatePredict() error {
	for limiter, formulas := range s.Predict {
		for figure := range formulas {
			path := fmt.Sprintf("$.predict.'%s'", limiter)
			if figures[figure] == "" {
				return wrong(path, "no figure is named %s, there are %s", figure, strings.Join(keys(figures), ", "))
			}
			if figure == "slow_share" && len(s.callers([]string{slowGroup})) == 0 {
				return wrong(path, "slow_share is of the group named %s, and there is none", slowGroup)
			}
		}
	}
	return nil
}

func keys[V any](m map[string]V) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
