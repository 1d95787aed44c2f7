package scenarios

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// compiled is the published schema.
func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("scenario.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("scenario.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fits reports whether a YAML text is one that s describes.
func fits(s *jsonschema.Schema, text string) error {
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		return err
	}
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return err
	}
	return s.Validate(doc)
}

func TestSchemaTakesEveryScenario(t *testing.T) {
	s := compiled(t)
	for _, name := range Names() {
		text, err := Text(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := fits(s, string(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	names, err := filepath.Glob("../cmd/harness/testdata/remote/*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := fits(s, string(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, more := range []string{
		"cost: 2\nkeys: {count: 3, pick: round-robin}\nquick: true\nsweep: {load: [0.5, 2]}",
		"server_clock: {offset: -3s, drift: -50ppm, jitter: 1.5ms, steps: [{at: 1s, by: -300ms}]}\nquick: [10ms]",
		"latency: true\nalone: true\nin_flight: 8\ndisturbance: {kind: step-back, of: server}\npredict: {x: {peak_excess: \"min(C, R*S)\", lockout_s: 0, slow_share: nil}}",
		"sweep: {drift: [1ppm, 20]}", "sweep: {for: [1s, 1m30s]}", "sweep: {limit: [{rate: 1, capacity: 2}]}",
	} {
		if err := fits(s, small+more+"\n"); err != nil {
			t.Errorf("%s: %v", more, err)
		}
	}
	for _, phase := range []string{
		"{burst: 1, hold: 0s, cost: 0.5}", "{for: 2s, open: {rate: 5k}, hold: {share: 0.1, from: 50ms, to: 2s}}", "{for: 1ms}",
		"{for: 2s, closed: {workers: 8, think: 0, random: true, obey: true}}", "{parallel: [{burst: 1}, {from: [a], for: 1s}]}",
		"{repeat: 3, phases: [{burst: 1}]}", "{for: 1s, open: {rate: 12.5, arrivals: poisson}}",
	} {
		if err := fits(s, strings.Replace(small, "{burst: 100}", phase, 1)); err != nil {
			t.Errorf("%s: %v", phase, err)
		}
	}
}

// oneField are messages about a field by itself, of which a schema knows.
var oneField = regexp.MustCompile(`unknown field|want (a number, got|a word|a list|fields|a whole number|more|true or false)|(name|limit|rate|for|phases|instances) (is|are) missing|is unknown|" is no (duration|drift|number|name)|has no value|empty list|no check is named|no figure is named|is no expectation`)

// TestSchemaRefusesWrongFiles holds the schema against the wrong files that the
// decoder's own test has: it must refuse what is wrong with one field.
func TestSchemaRefusesWrongFiles(t *testing.T) {
	s, refused := compiled(t), 0
	for _, w := range wrongFiles {
		err := fits(s, strings.Replace(small, w.old, w.new, 1))
		if err != nil {
			refused++
		} else if oneField.MatchString(w.want) {
			t.Errorf("%q is taken, though %s", w.new, w.want)
		}
	}
	if refused < 75 {
		t.Errorf("%d of %d wrong files are refused, want 75 and more", refused, len(wrongFiles))
	}
	t.Logf("%d of %d wrong files are refused", refused, len(wrongFiles))
}

// part is what of a schema tells of fields.
type part struct {
	Properties map[string]*part `json:"properties"`
	Items      *part            `json:"items"`
	AnyOf      []*part          `json:"anyOf"`
	Additional json.RawMessage  `json:"additionalProperties"`
	Ref        string           `json:"$ref"`
	Defs       map[string]*part `json:"$defs"`
}

// TestSchemaNamesEveryField follows the types that scenario files are decoded to.
func TestSchemaNamesEveryField(t *testing.T) {
	var root part
	if err := json.Unmarshal(Schema(), &root); err != nil {
		t.Fatal(err)
	}
	seen := map[reflect.Type]bool{}
	var compare func(path string, typ reflect.Type, p *part)
	compare = func(path string, typ reflect.Type, p *part) {
		for typ.Kind() == reflect.Pointer {
			typ = typ.Elem()
		}
		if p == nil {
			t.Errorf("%s: the schema ends here", path)
			return
		}
		if name, ok := strings.CutPrefix(p.Ref, "#/$defs/"); ok {
			p = root.Defs[name]
		}
		switch {
		case typ.Kind() == reflect.Slice && typ.Elem().Kind() == reflect.Struct:
			compare(path+"[]", typ.Elem(), p.Items)
			return
		case typ == reflect.TypeFor[Hold]():
			if names := slices.Sorted(maps.Keys(p.AnyOf[1].Properties)); !slices.Equal(names, []string{"from", "share", "to"}) {
				t.Errorf("%s: fields %v", path, names)
			}
			return
		case typ.Kind() != reflect.Struct || typ == reflect.TypeFor[Points]() || seen[typ]:
			return
		}
		seen[typ] = true
		var want []string
		for f := range typ.Fields() {
			if tag := f.Tag.Get("yaml"); tag != "" {
				want = append(want, tag)
				compare(path+"."+tag, f.Type, p.Properties[tag])
			}
		}
		slices.Sort(want)
		if got := slices.Sorted(maps.Keys(p.Properties)); !slices.Equal(got, want) {
			t.Errorf("%s: fields %v, want %v", path, got, want)
		}
	}
	compare("scenario", reflect.TypeFor[Scenario](), &root)
	if len(seen) < 12 {
		t.Errorf("%d types were looked at", len(seen))
	}
	kinds := struct {
		Properties struct {
			Disturbance struct {
				Properties struct {
					Kind struct {
						Enum []string `json:"enum"`
					} `json:"kind"`
				} `json:"properties"`
			} `json:"disturbance"`
			Predict struct {
				Additional part `json:"additionalProperties"`
			} `json:"predict"`
			Expect struct {
				Additional part `json:"additionalProperties"`
			} `json:"expect"`
		} `json:"properties"`
	}{}
	if err := json.Unmarshal(Schema(), &kinds); err != nil {
		t.Fatal(err)
	}
	same := func(what string, got, want []string) {
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	same("kinds of disturbance", kinds.Properties.Disturbance.Properties.Kind.Enum, keys(disturbances))
	same("figures", slices.Collect(maps.Keys(kinds.Properties.Predict.Additional.Properties)), keys(figures))
	same("checks", slices.Collect(maps.Keys(kinds.Properties.Expect.Additional.Properties)), slices.Clone(checkNames))
}
