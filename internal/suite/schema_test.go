package suite

import (
	"reflect"
	"testing"

	"github.com/org/ebpf-bench-action/internal/strictyaml/schematest"
)

// validate checks a suite file against the schema that an editor uses.
func validate(t *testing.T, text string) error {
	t.Helper()
	return schematest.Validate(t, Schema, text)
}

// The schema has exactly the keys that the reader takes.
func TestSchemaHasTheKeysOfTheReader(t *testing.T) {
	schematest.SameKeys(t, Schema, reflect.TypeFor[file]())
}
