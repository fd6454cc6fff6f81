package compare

import (
	"bytes"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/thresholds"
)

// sourceComparison knows where its programs are: failing ones show it.
func sourceComparison() Table {
	t := exactComparison("6.12.8", 1)
	for i := range t.Pairs {
		t.Pairs[i].Base.Source = &bench.Source{File: "old.bpf.c", Line: 7, Function: "slow"}
		t.Pairs[i].Head.Source = &bench.Source{File: "bpf/fun_xdp.bpf.c", Line: 41 + i, Function: "slow"}
	}
	t.Verdicts.All = append(t.Verdicts.All, counted("xdp/slow", bench.XlatedBytes, thresholds.Regression, thresholds.Warn, 144, 1440, "144 → 1,440 bytes (+1,296), up to 10% is allowed"))
	return t
}

func TestSourceOfOthersIsNotSaid(t *testing.T) {
	for _, c := range []struct {
		file, want string
	}{
		{"fun_xdp.bpf.c", ", at fun_xdp.bpf.c:1"},
		{"bpf/fun_xdp.bpf.c", ", at bpf/fun_xdp.bpf.c:1"},
		{"/home/runner/work/x/x/bpf/fun_xdp.bpf.c", ", at fun_xdp.bpf.c:1"},
	} {
		m := sourceComparison()
		m.Pairs[1].Head.Source = &bench.Source{File: c.file, Line: 1}
		for _, render := range []func(*bytes.Buffer, *Model) error{
			func(b *bytes.Buffer, m *Model) error { return Text(b, m) },
			func(b *bytes.Buffer, m *Model) error { return Markdown(b, m, 0) },
		} {
			var b bytes.Buffer
			if err := render(&b, New(m)); err != nil {
				t.Fatal(err)
			}
			if out := strings.NewReplacer("`", "").Replace(b.String()); strings.Count(out, ", at ") != 1 || !strings.Contains(out, c.want) || strings.Contains(out, "old.bpf.c") {
				t.Errorf("%s: want %q once in\n%s", c.file, c.want, out)
			}
		}
	}
}

// A stranger's source information is printed like all of the stranger's text.
func TestHostileSource(t *testing.T) {
	m := sourceComparison()
	m.Pairs[1].Head.Source.File = hostile
	var text, markdown bytes.Buffer
	if err := Text(&text, New(m)); err != nil {
		t.Fatal(err)
	}
	if err := Markdown(&markdown, New(m), 0); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), escape.Printable(hostile)) || strings.ContainsAny(text.String(), "\x1b\u202e") {
		t.Errorf("text:\n%s", text.String())
	}
	for _, bad := range []string{"\x1b", "<script>", "![i]", "\u202e"} {
		if strings.Contains(markdown.String(), bad) {
			t.Errorf("%q in\n%s", bad, markdown.String())
		}
	}
}
