package compare

import (
	"bytes"
	"testing"

	"github.com/org/ebpf-bench-action/internal/report/reporttest"
)

func TestCSV(t *testing.T) {
	for name, m := range models() {
		var b bytes.Buffer
		if err := CSV(&b, m); err != nil {
			t.Fatal(err)
		}
		verdicts := 0
		for _, r := range m.rows() {
			verdicts += max(1, len(r.verdicts()))
		}
		rows := reporttest.Sheet(t, b.String())
		if len(rows) != verdicts {
			t.Errorf("%s: %d lines of %d verdicts", name, len(rows), verdicts)
		}
		for _, r := range rows {
			switch {
			case r["benchmark"] == "" || r["verdict"] == "" || r["kernel"] == "":
				t.Errorf("%s: %v", name, r)
			case r["delta"] == "-0":
				t.Errorf("%s: a zero has a sign: %v", name, r)
			case r["verdict"] == "added" && r["measure"] == "latency" && r["head"] == "":
				t.Errorf("%s: what was measured of the head is missing: %v", name, r)
			case r["exact"] == "true" && r["p"] != "":
				t.Errorf("%s: what is exact has a p-value: %v", name, r)
			}
		}
	}
}
