package reports

import (
	"bytes"
	_ "embed" // results.schema.json
)

//go:embed results.schema.json
var schema []byte

// Schema returns the JSON Schema (draft 2020-12) of results.json, as it is
// published. The caller may change the slice.
func Schema() []byte {
	return bytes.Clone(schema)
}
