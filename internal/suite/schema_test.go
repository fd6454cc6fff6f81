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

// Every key that the reader takes is in the schema, and none beside.
func TestSchemaHasTheKeysOfTheReader(t *testing.T) {
	schematest.SameKeys(t, Schema, reflect.TypeFor[file]())
}
