package profiled

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/profile/diff"
	"github.com/org/ebpf-bench-action/internal/report/reporttest"
)

const ms = int64(time.Millisecond)

func compared() *DiffModel {
	return &DiffModel{Rows: 2, Diff: &diff.Diff{
		Scale: "duration",
		Base:  diff.Side{Name: "before\x1b[2J.pb.gz", Duration: 2 * time.Second}, Head: diff.Side{Name: "after.pb.gz", Duration: 5 * time.Second},
		Kinds: []diff.Kind{
			{Sample: "cpu", Unit: "nanoseconds", Factor: 2.5, Total: diff.Change{Base: 100 * ms, Head: 150 * ms}, Functions: []diff.Function{
				{Name: "main.leaf", Module: "agent", Self: diff.Change{Base: 10 * ms, Head: 70 * ms}, Total: diff.Change{Base: 20 * ms, Head: 80 * ms}},
				{Name: "main.gone", Module: "agent", Self: diff.Change{Base: 10 * ms}, Total: diff.Change{Base: 10 * ms}},
				{Name: "main.main", Module: "agent", Total: diff.Change{Base: 100 * ms, Head: 150 * ms}},
			}},
			{Sample: "off-cpu", Unit: "nanoseconds", Factor: 2.5, Waits: true, Total: diff.Change{Base: 900 * ms, Head: 900 * ms}, Functions: []diff.Function{
				{Name: "main.pause\x1b[1m", In: "Nanosleep", Self: diff.Change{Base: 100 * ms, Head: 300 * ms}},
			}},
			{Sample: "disk", Unit: "nanoseconds", Factor: 2.5, Waits: true},
			{Sample: "::error::no", Unit: "\x1b[2J\n::error::a unit of others", Factor: 2.5, Total: diff.Change{Base: 1, Head: 2}},
		},
	}}
}

func TestDiffText(t *testing.T) {
	text := reporttest.Golden(t, "diff.txt", func(w io.Writer) error { return DiffText(w, compared()) })
	reporttest.Printable(t, text)
}

// JSON has all functions, whatever the length of the tables.
func TestDiffJSON(t *testing.T) {
	var b strings.Builder
	if err := DiffJSON(&b, compared()); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Kinds []struct {
			Sample    string
			Functions []struct {
				Name string
				Self struct{ Base, Head int64 }
			}
		}
	}
	if err := json.Unmarshal([]byte(b.String()), &got); err != nil {
		t.Fatal(err)
	}
	if f := got.Kinds[0].Functions; len(f) != 3 || f[0].Name != "main.leaf" || f[0].Self.Head != 70*ms {
		t.Errorf("got %s", &b)
	}
}
