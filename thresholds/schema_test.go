package thresholds

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/strictyaml/schematest"
)

// The schema has every key and word that the reader accepts, and no others. The tests that
// use policy check that the schema accepts what the reader accepts.
func TestSchemaHasTheKeysOfTheReader(t *testing.T) {
	schematest.SameKeys(t, Schema, reflect.TypeFor[Policy]())
	var schema struct {
		Defs struct {
			Measure struct{ Enum []string }
			History struct {
				Properties struct{ Test struct{ Enum []string } }
			}
		} `json:"$defs"`
	}
	if err := json.Unmarshal(Schema, &schema); err != nil {
		t.Fatal(err)
	}
	if got := schema.Defs.Measure.Enum; !slices.Equal(got, bench.Measures()) {
		t.Errorf("measures %q, want %q", got, bench.Measures())
	}
	if got := schema.Defs.History.Properties.Test.Enum; !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(tests()))) {
		t.Errorf("tests %q, want %q", got, tests())
	}
	if err := schematest.Validate(t, Schema, string(defaults)); err != nil {
		t.Errorf("the schema refuses the built-in thresholds: %v", err)
	}
}

func TestSchemaRefuses(t *testing.T) {
	for _, text := range []string{
		"thresholds: []", "version: 2", "version: 1\nthresholds: [{measure: latency}]", "version: 1\nthresholds: [{measure: '', max: 1}]",
		"version: 1\nthresholds: [{measure: latency, severity: warn}]", "version: 1\nthresholds: [{measure: latency, percent: 5%}]",
		"version: 1\naccept: [{benchmark: a, measure: latency, up_to: 1, until: 2027-01-31}]", "version: 1\nlimits: []",
	} {
		if schematest.Validate(t, Schema, text) == nil {
			t.Errorf("the schema takes %q", text)
		}
		if _, err := load(text); err == nil {
			t.Errorf("the reader takes %q", text)
		}
	}
}
