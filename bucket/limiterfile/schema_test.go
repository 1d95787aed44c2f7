package limiterfile_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bucketproof/bucket/limiterfile"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// compiled is the published schema.
func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(limiterfile.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("limiter.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("limiter.schema.json")
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

func TestSchemaTakesTheFilesOfThisTree(t *testing.T) {
	s, files := compiled(t), 0
	for _, pattern := range []string{
		"../lua/scripts/*.yaml", "../lua/testdata/*.yaml", "../lua/testdata/cases/*.yaml", "../remote/examples/*.yaml",
		"../../cmd/harness/testdata/sharpness/right.yaml", "../../cmd/harness/templates/limiter.yaml",
	} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files++
			if err := fits(s, string(data)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if files < 10 {
		t.Errorf("%d files were looked at", files)
	}
	for _, text := range []string{
		good, with("args: []"), with(`args: ["'x'", 7, true]`), with("granularity: 1.5us"),
		strings.NewReplacer("1e-3", "0.001", "0x10", "16", "my_limiter.lua", "ok.lua").Replace(full),
		"name: c\ncommand: [X, \"a${key}\", 3]\nreply: {allowed: reply == 1}\n",
		"name: h\nhttp: {method: POST, url: \"https://x/\", headers: {x-key: \"${key}\"}, body: x}\nkeys: [\"${key}\"]\nstate: {tokens: string}\nreply: {allowed: status == 200, denied: status == 429}\n",
		"name: e\ntime: server\nexec: [./limiter]\n",
	} {
		if _, err := limiterfile.Parse("f.yaml", []byte(text), folder); err != nil {
			t.Errorf("the file is wrong itself: %v", err)
		}
		if err := fits(s, text); err != nil {
			t.Errorf("%s\n%v", text, err)
		}
	}
}

// beyondSchema are the mistakes of which a schema knows nothing: those within an
// expression, in the Lua beside the file, in how the YAML is written and in
// whether some of several texts holds a key.
var beyondSchema = []string{
	"two documents", "anchor", "tag",
	"missing script", "empty script", "key without an end", "unknown name in a key", "unknown name in a quoted key",
	"unknown name in a single-quoted key", "empty expression in a key", "unknown name in args", "reply in args",
	"clock function", "unknown function", "unfinished expression", "mismatched types", "list as an argument",
	"nil as an argument", "infinity as an argument", "all names at once", "text that is not quoted twice",
	"allowed that is a number", "remaining that is text", "status without http", "bad expression in a block",
	"bad expression in a literal block", "model of the other clock", "reply of http", "unknown name in a command",
	"status in the reply of a command", "url with a port that is none", "unknown name in a url", "http without a key",
	"header given twice", "status as a text", "model of exec on the other clock",
}

// TestSchemaRefusesWrongFiles holds the schema against every wrong file that the
// decoder's own test has.
func TestSchemaRefusesWrongFiles(t *testing.T) {
	s, known := compiled(t), map[string]bool{}
	for _, w := range wrong {
		known[w.name] = true
		err := fits(s, w.file)
		switch beyond := slices.Contains(beyondSchema, w.name); {
		case err == nil && !beyond:
			t.Errorf("%s is taken, though %s", w.name, w.want)
		case err != nil && beyond:
			t.Errorf("%s is refused, which beyondSchema need not say any more: %v", w.name, err)
		}
	}
	for _, name := range beyondSchema {
		if !known[name] {
			t.Errorf("no wrong file is called %q", name)
		}
	}
}

// TestSchemaNamesEveryField asks the decoder which fields there are, by giving it
// something else in their place.
func TestSchemaNamesEveryField(t *testing.T) {
	type node struct {
		Properties map[string]node `json:"properties"`
	}
	var root node
	if err := json.Unmarshal(limiterfile.Schema(), &root); err != nil {
		t.Fatal(err)
	}
	wanted := func(text string) []string {
		_, err := limiterfile.Parse("f.yaml", []byte(text), folder)
		if err == nil {
			t.Fatalf("%s is taken", text)
		}
		_, list, ok := strings.Cut(err.Error(), "want fields: ")
		if !ok {
			t.Fatalf("%s: %v", text, err)
		}
		names := strings.Split(list, ", ")
		slices.Sort(names)
		return names
	}
	got := func(n node) []string { return slices.Sorted(maps.Keys(n.Properties)) }
	if want := wanted("text\n"); !slices.Equal(got(root), want) {
		t.Errorf("fields %v, want %v", got(root), want)
	}
	for _, field := range []string{"reply", "state", "limit", "expect"} {
		if want := wanted(with(field + ": text")); !slices.Equal(got(root.Properties[field]), want) {
			t.Errorf("fields of %s: %v, want %v", field, got(root.Properties[field]), want)
		}
	}
	if want := wanted("name: h\nhttp: text\n"); !slices.Equal(got(root.Properties["http"]), want) {
		t.Errorf("fields of http: %v, want %v", got(root.Properties["http"]), want)
	}
}
