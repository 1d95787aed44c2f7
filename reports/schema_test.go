package reports

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"bucketproof/scenarios/capacity"
)

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	if err := c.AddResource("results.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("results.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestWrittenReportsFitSchema(t *testing.T) {
	s := compiled(t)
	for name, r := range map[string]*Report{
		"empty": {}, "predicted": predicted(), "standard": standard().report, "troubled": troubled().report, "selftest": selftested(2).report, "clocks": clocks().report, "capacity": capable(), "empty capacity": {Capacity: make([]capacity.Result, 1)}, "empty selftest": {Selftest: new(Selftest)},
	} {
		if strings.HasPrefix(name, "empty") {
			r.Verdict, r.Redis.Kind = "pass", "none"
		}
		dir := t.TempDir()
		if err := write(dir, r, nil, false); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(dir, "results.json"))
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(doc); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// predicted is a report of a run with all that a scenario about clocks adds.
func predicted() *Report {
	r := standard().report
	run := &r.Runs[0]
	run.Disturbance = &Disturbance{Kind: "spread", Of: "caller", Size: 0.5, Unit: "s"}
	run.Predictions = []Prediction{{Figure: "peak_excess", Unit: "tokens", Measured: 49.2, Predicted: 50, Tolerance: 2.1, Within: true}}
	run.Instances[0].Clock.Strobe = &Strobe{ByS: -0.2, EveryS: 0.1}
	run.Instances[0].Clock.Freeze = &Freeze{AtS: 1, ForS: 0.3}
	r.Redis = clocked(r.Redis, -0.25, 40e-6, 1.5, 3)
	return r
}

func TestSchemaRefusesOtherDocuments(t *testing.T) {
	s := compiled(t)
	for _, doc := range []string{`{}`, `[]`, `{"schema_version":2}`} {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(doc))
		if err != nil {
			t.Fatal(err)
		}
		if s.Validate(v) == nil {
			t.Errorf("%s was accepted", doc)
		}
	}
}

// node is what the test reads of a schema.
type node struct {
	Ref                  string          `json:"$ref"`
	Type                 string          `json:"type"`
	Properties           map[string]node `json:"properties"`
	Required             []string        `json:"required"`
	Items                *node           `json:"items"`
	AnyOf                []node          `json:"anyOf"`
	AdditionalProperties *node           `json:"additionalProperties"`
	Defs                 map[string]node `json:"$defs"`
}

func TestSchemaNamesTheFieldsOfReport(t *testing.T) {
	var root node
	if err := json.Unmarshal(Schema(), &root); err != nil {
		t.Fatal(err)
	}
	f := fields{t: t, defs: root.Defs, seen: make(map[reflect.Type]bool)}
	f.compare("report", root, reflect.TypeFor[Report]())
	// Evidence is raw JSON in a Check: another program's may hold anything.
	f.compare("evidence", root.Defs["evidence"], reflect.TypeFor[Evidence]())
}

type fields struct {
	t    *testing.T
	defs map[string]node
	seen map[reflect.Type]bool
}

func (f fields) compare(place string, n node, typ reflect.Type) {
	n = f.resolve(n)
	switch {
	case typ.Kind() == reflect.Pointer:
		f.compare(place, n, typ.Elem())
	case typ.Kind() == reflect.Slice && typ.Elem().Kind() != reflect.Uint8:
		if n.Items == nil {
			f.t.Errorf("%s: a list in Go, none in the schema", place)
			return
		}
		f.compare(place+"[]", *n.Items, typ.Elem())
	case typ.Kind() == reflect.Struct && typ != reflect.TypeFor[time.Time]() && !f.seen[typ]:
		f.seen[typ] = true
		f.object(place, n, typ)
	}
}

func (f fields) resolve(n node) node {
	for _, option := range n.AnyOf {
		if option.Ref != "" {
			n = option
		}
	}
	if name, ok := strings.CutPrefix(n.Ref, "#/$defs/"); ok {
		return f.defs[name]
	}
	return n
}

func (f fields) object(place string, n node, typ reflect.Type) {
	var names, required []string
	for i := range typ.NumField() {
		field := typ.Field(i)
		if !field.IsExported() {
			continue
		}
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		names = append(names, name)
		if !strings.Contains(options, "omitempty") {
			required = append(required, name)
		}
		if p, ok := n.Properties[name]; ok {
			f.compare(place+"."+name, p, field.Type)
		}
	}
	var published []string
	for name := range n.Properties {
		published = append(published, name)
	}
	same(f.t, place+" properties", published, names)
	same(f.t, place+" required", n.Required, required)
}

func same(t *testing.T, what string, schema, code []string) {
	t.Helper()
	slices.Sort(schema)
	slices.Sort(code)
	if !slices.Equal(schema, code) {
		t.Errorf("%s: schema %s, Go %s", what, fmt.Sprint(schema), fmt.Sprint(code))
	}
}
