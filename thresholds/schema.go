package thresholds

import _ "embed"

// SchemaURL is where an editor finds the schema of the thresholds file.
const SchemaURL = "https://raw.githubusercontent.com/org/ebpf-bench-action/main/thresholds/schema.json"

// Schema is the JSON Schema of the thresholds file, version 1.
//
//go:embed schema.json
var Schema []byte
