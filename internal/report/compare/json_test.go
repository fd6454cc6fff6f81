package compare

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/thresholds"
)

func TestJSON(t *testing.T) {
	for name, m := range models() {
		var b bytes.Buffer
		if err := JSON(&b, m); err != nil {
			t.Fatal(err)
		}
		var doc struct {
			Version int
			Outcome string
			Tables  []struct {
				Comparison json.RawMessage
				Verdicts   []map[string]any
			}
		}
		if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if doc.Version != bench.JudgedVersion || doc.Outcome != string(m.Overall()) || len(doc.Tables) != len(m.Tables) {
			t.Errorf("%s: %+v", name, doc)
		}
		for i, table := range doc.Tables {
			if len(table.Verdicts) != len(m.Tables[i].Verdicts.All) {
				t.Errorf("%s: %d verdicts", name, len(table.Verdicts))
			}
			if name == "hostile" {
				continue // Its pairs and results go by different names.
			}
			if _, err := bench.DecodeComparison(bytes.NewReader(table.Comparison)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
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
