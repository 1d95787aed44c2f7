package scenarios

import (
	"bytes"
	_ "embed" // scenario.schema.json
)

//go:embed scenario.schema.json
var schema []byte

// Schema returns the JSON Schema (draft 2020-12) of scenario files, with which an
// editor completes and checks them. It knows all fields and what each may hold by
// itself; what must fit together is for [Parse]. The caller may change the slice.
func Schema() []byte { return bytes.Clone(schema) }
