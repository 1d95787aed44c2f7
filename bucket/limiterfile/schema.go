package limiterfile

import (
	"bytes"
	_ "embed" // limiter.schema.json
)

//go:embed limiter.schema.json
var schema []byte

// Schema returns the JSON Schema (draft 2020-12) of limiter files, with which an
// editor completes and checks them. It knows all fields and what they may hold;
// expressions are text to it. The caller may change the slice.
func Schema() []byte { return bytes.Clone(schema) }
