package explain

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/escape/escapetest"
	"github.com/org/ebpf-bench-action/internal/report/reporttest"
)

func explainHTML(t *testing.T, m *Model) string {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestHTML(t *testing.T) {
	asm := New(twoSided())
	asm.Asm = true
	for name, m := range map[string]*Model{"one": New(oneSided()), "two": New(twoSided()), "asm": asm, "chance": New(chanceExplained())} {
		out := reporttest.Golden(t, name+".html.golden", func(w io.Writer) error { return HTML(w, m) })
		if dir := os.Getenv("EXPLAIN_HTML"); dir != "" {
			if err := os.WriteFile(dir+"/"+name+".html", []byte(out), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		checkPage(t, out)
	}
}

// Lines around those with code are shown if the file is what was compiled; what
// several benchmarks share appears once.
func TestHTMLAround(t *testing.T) {
	e := oneSided()
	again := e.Programs[0]
	again.Benchmark = "xdp/again"
	e.Programs = append(e.Programs, again)
	m := New(e)
	source := make([]string, 140)
	for i := range source {
		source[i] = fmt.Sprintf("around %d", i+1)
	}
	for _, l := range e.Programs[0].Lines {
		source[l.Number-1] = l.Text
	}
	m.Sources = map[string][]string{"fun_xdp.c": source}
	out := explainHTML(t, m)
	checkPage(t, out)
	for text, want := range map[string]int{"around 60<": 1, "around 59<": 0, "around 64<": 1, "around 75<": 1, "around 100<": 0, "around 128<": 1, "around 129<": 0, ">in xdp/fibonacci_slow<": 2} {
		if n := strings.Count(out, text); n != want {
			t.Errorf("%q is there %d times, want %d", text, n, want)
		}
	}
	source[61] = "it was edited since"
	if out := explainHTML(t, m); strings.Contains(out, "around 60<") {
		t.Error("lines of another version are shown")
	}
}

var (
	pageTag = regexp.MustCompile(`<(/?)([a-zA-Z!][a-zA-Z0-9]*)([^>]*)>`)
	pageID  = regexp.MustCompile(` id="([^"]*)"`)
	pageRef = regexp.MustCompile(` href="#([^"]*)"`)
	// elsewhere matches what would fetch something.
	elsewhere = regexp.MustCompile(`(?i) (src|href="[^#]|action|data|on[a-z]+)=?|url\(|@import`)
)

// checkPage checks that a page has only its own elements, properly nested,
// refers to nothing outside, and that each of its links leads somewhere.
func checkPage(t *testing.T, out string) {
	t.Helper()
	void := map[string]bool{"!DOCTYPE": true, "meta": true}
	var open []string
	for _, tag := range pageTag.FindAllStringSubmatch(out, -1) {
		name := tag[2]
		switch {
		case !strings.Contains(" !DOCTYPE html head meta title style body a header h1 p main nav h2 h3 div table caption thead tbody tr th td section small strong ol li code span pre details summary footer ", " "+name+" "):
			t.Errorf("an element %s", tag[0])
		case elsewhere.MatchString(tag[3]):
			t.Errorf("something is fetched: %s", tag[0])
		case void[name]:
		case tag[1] == "":
			open = append(open, name)
		case len(open) == 0 || open[len(open)-1] != name:
			t.Fatalf("%s ends in %v", tag[0], open)
		default:
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Errorf("%v is not ended", open)
	}
	ids := map[string]bool{}
	for _, id := range pageID.FindAllStringSubmatch(out, -1) {
		if ids[id[1]] {
			t.Errorf("two elements %s", id[1])
		}
		ids[id[1]] = true
	}
	for _, ref := range pageRef.FindAllStringSubmatch(out, -1) {
		if !ids[ref[1]] {
			t.Errorf("a link to %s leads nowhere", ref[1])
		}
	}
	if strings.Contains(out, "ZgotmplZ") {
		t.Error("the template refuses a value")
	}
}

func TestHTMLHostile(t *testing.T) {
	honest := len(pageTag.FindAllString(explainHTML(t, New(hostileExplanation("x"))), -1))
	attacks := append(escapetest.Names(300), escapetest.Attacks...)
	attacks = append(attacks, `"><script>alert(1)</script>`, `</pre><img src=x>`, `{{.}}`, `javascript:alert(1)`, `</style>`, `</title>`)
	for _, attack := range attacks {
		m := New(hostileExplanation("x" + attack))
		out := explainHTML(t, m)
		reporttest.Printable(t, out)
		checkPage(t, out)
		if n := len(pageTag.FindAllString(out, -1)); n > honest {
			t.Errorf("%d tags, %d without it", n, honest)
		}
		if t.Failed() {
			t.Fatalf("with %q", attack)
		}
	}
}
