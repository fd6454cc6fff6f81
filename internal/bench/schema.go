package bench

import _ "embed"

// Schema is the JSON Schema of Results, including judged ones.
//
//go:embed schema.json
var Schema []byte
