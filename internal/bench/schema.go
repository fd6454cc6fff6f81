package bench

import _ "embed"

// Schema is the JSON Schema of Results, judged ones included.
//
//go:embed schema.json
var Schema []byte
