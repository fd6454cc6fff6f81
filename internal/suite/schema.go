package suite

import _ "embed"

// SchemaURL is where an editor finds the schema of the suite file.
const SchemaURL = "https://raw.githubusercontent.com/org/ebpf-bench-action/main/internal/suite/schema.json"

// Schema is the JSON Schema of the suite file, version 1.
//
//go:embed schema.json
var Schema []byte
