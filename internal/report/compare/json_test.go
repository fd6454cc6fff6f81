package compare

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/strictyaml/schematest"
	"github.com/org/ebpf-bench-action/thresholds"
)

func TestJSON(t *testing.T) {
	for name, m := range models() {
		var b bytes.Buffer
		if err := JSON(&b, m); err != nil {
			t.Fatal(err)
		}
		if err := schematest.Validate(t, bench.Schema, b.String()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var doc struct {
			Version     int
			Outcome     string
			Comparisons []struct{ Verdicts []map[string]any }
		}
		if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if doc.Version != bench.ResultsVersion || doc.Outcome != string(m.Overall()) || len(doc.Comparisons) != len(m.Tables) {
			t.Errorf("%s: %+v", name, doc)
		}
		for i, c := range doc.Comparisons {
			if len(c.Verdicts) != len(m.Tables[i].Verdicts.All) {
				t.Errorf("%s: %d verdicts", name, len(c.Verdicts))
			}
		}
		if name == "hostile" || name == "empty" {
			continue // Its pairs and results go by different names, or there are none.
		}
		if results, err := bench.Decode(&b); err != nil || len(results.Comparisons) != len(m.Tables) {
			t.Errorf("%s: %+v, %v", name, results, err)
		}
	}
}

func TestJSONLeavesOutWhatIsNoNumber(t *testing.T) {
	v := timed("a", thresholds.Pass, 0, math.Inf(1), "why")
	v.Change.Base, v.Change.Band, v.P, v.Detectable = math.NaN(), math.Inf(1), math.NaN(), math.Inf(1)
	zero := counted("a", bench.JitedBytes, thresholds.Regression, thresholds.Fail, 0, 3, "why")
	m := New(Table{&bench.Comparison{}, &thresholds.Verdicts{All: []thresholds.Verdict{v, zero}}})
	var b bytes.Buffer
	if err := JSON(&b, m); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`{"benchmark":"a","measure":"latency","unit":"ns","outcome":"pass","severity":"fail","confidence":0.99,"tests":8,"paired":true,"loads":31,"rounds":2000,"why":"why"}`,
		`{"benchmark":"a","measure":"jited-bytes","unit":"bytes","outcome":"regression","severity":"fail","base":0,"head":3,"delta":3,"why":"why"}`,
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s\nis missing in\n%s", want, &b)
		}
	}
}
