package explain

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape/escapetest"
	"github.com/org/ebpf-bench-action/internal/report/reporttest"
	"github.com/org/ebpf-bench-action/internal/strictyaml/schematest"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

func explainIn(t *testing.T, format string, m *Model) string {
	t.Helper()
	var b bytes.Buffer
	if err := explainRenderers[format](&b, m); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestMarkdown(t *testing.T) {
	asm := New(twoSided())
	asm.Asm = true
	for name, m := range map[string]*Model{"one": New(oneSided()), "two": New(twoSided()), "asm": asm, "chance": New(chanceExplained())} {
		reporttest.Golden(t, name+".md.golden", func(w io.Writer) error { return Markdown(w, m, 0) })
	}
}

// A comment has limited room, and says what was left out.
func TestMarkdownFits(t *testing.T) {
	m := New(manyExplained())
	m.All, m.Asm = true, true
	whole := explainIn(t, "markdown", m)
	for limit := 1; limit < len(whole)+10; limit += 97 {
		var b bytes.Buffer
		if err := Markdown(&b, m, limit); err != nil || b.Len() > limit {
			t.Fatalf("%d bytes of %d: %v", b.Len(), limit, err)
		}
		if b.Len() > 500 && b.Len() < len(whole) && !strings.Contains(b.String(), "left out: ") {
			t.Errorf("of %d bytes nothing was left out", limit)
		}
	}
}

// A stranger's text becomes code, or text without markup.
func TestMarkdownHostile(t *testing.T) {
	kinds := func(source string) string {
		counts := map[ast.NodeKind]int{}
		root := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader([]byte(source)))
		_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			switch k := n.Kind(); k {
			case ast.KindText, ast.KindCodeSpan, ast.KindString:
			case ast.KindRawHTML:
				if tag := string(n.(*ast.RawHTML).Segments.Value([]byte(source))); tag != "<code>" && tag != "</code>" && tag != "<br>" {
					counts[k]++
				}
			default:
				if entering {
					counts[k]++
				}
			}
			return ast.WalkContinue, nil
		})
		return fmt.Sprint(counts)
	}
	render := func(attack string) string {
		m := New(hostileExplanation("x" + attack))
		m.Asm = true
		return explainIn(t, "markdown", m)
	}
	honest := kinds(render("y"))
	for _, attack := range append(escapetest.Names(300), escapetest.Attacks...) {
		out := render(attack)
		if got := kinds(out); got != honest {
			t.Fatalf("with %q there are %s, without it %s, in\n%s", attack, got, honest, out)
		}
	}
}

func TestJSON(t *testing.T) {
	out := reporttest.Golden(t, "two.json.golden", func(w io.Writer) error { return JSON(w, New(twoSided())) })
	if err := schematest.Validate(t, bench.Schema, out); err != nil {
		t.Error(err)
	}
	e, err := bench.DecodeExplanation(strings.NewReader(out))
	if err != nil || len(e.Programs) != 3 {
		t.Errorf("%v, %+v", err, e)
	}
}

// No format leads a viewer to a file that an object names and that is not its
// source.
func TestLeadsNowhereElse(t *testing.T) {
	for file, want := range map[string]string{
		"/etc/passwd": "passwd", "../../etc/passwd": "passwd", "etc/passwd": "passwd", "/usr/include/linux/bpf.h": "bpf.h", "..": "..",
		"bpf/a.c": "bpf/a.c", "a.C": "a.C", "bpf/../../a.c": "a.c", "/found/a.c": "/src/a.c",
	} {
		e := oneSided()
		e.Programs = e.Programs[:1]
		for i := range e.Programs[0].Lines {
			e.Programs[0].Lines[i].File = file
		}
		m := New(e)
		m.Paths = map[string]string{"/found/a.c": "/src/a.c"}
		if out := explainIn(t, "lcov", m); !strings.Contains(out, "SF:"+want+"\n") {
			t.Errorf("%s is not %s in lcov", file, want)
		}
		p, err := profile.ParseData([]byte(explainIn(t, "pprof", m)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range p.Function {
			if f.Filename != want {
				t.Errorf("%s is %s in pprof, want %s", file, f.Filename, want)
			}
		}
	}
}

var lcovLine = regexp.MustCompile(`^(TN:\w*|SF:.+|FN:\d+,[^,]+|FNDA:\d+,[^,]+|FN[FH]:\d+|DA:\d+,\d+|L[FH]:\d+|end_of_record)$`)

func TestLCOV(t *testing.T) {
	one := New(oneSided())
	one.Paths = map[string]string{"fun_xdp.c": "/src/fun_xdp.c"}
	out := reporttest.Golden(t, "one.info.golden", func(w io.Writer) error { return LCOV(w, one) })
	for line := range strings.Lines(out) {
		if !lcovLine.MatchString(strings.TrimSuffix(line, "\n")) {
			t.Errorf("no record: %q", line)
		}
	}
	// The loop's line has four instructions, each executed 427.5/4 times per
	// run, in four runs.
	for _, want := range []string{"TN:xdp_fibonacci_slow\n", "SF:/src/fun_xdp.c\n", "DA:109,428\n", "DA:69,0\n", "FN:62,fun_xdp_fibonacci\n", "FNDA:4,fun_xdp_fibonacci\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q", want)
		}
	}
	// With two sides, it is the head.
	if out := explainIn(t, "lcov", New(twoSided())); strings.Contains(out, "DA:109,") || !strings.Contains(out, "DA:135,") {
		t.Error(out)
	}
}

// A line is covered if it was reached: once if only the first run reached it,
// and not by what the compiler moved in front of a branch.
func TestLCOVReached(t *testing.T) {
	e := chanceExplained()
	// A line that was inlined is in several functions.
	inlined := e.Programs[0].Lines[0]
	inlined.Function, inlined.Head = "caller", executes(4, 20)
	e.Programs[0].Lines = append(e.Programs[0].Lines, inlined)
	out := explainIn(t, "lcov", New(e))
	for _, want := range []string{"DA:12,32\n", "DA:20,0\n", "DA:21,1\n", "DA:22,4\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestLCOVOfNothing(t *testing.T) {
	e := oneSided()
	e.Programs = e.Programs[1:]
	var b bytes.Buffer
	if err := LCOV(&b, New(e)); err == nil || !strings.Contains(bench.Hint(err), "-g") {
		t.Errorf("%v, with the hint %q", err, bench.Hint(err))
	}
}

func TestLCOVHostile(t *testing.T) {
	for _, attack := range append(escapetest.Names(300), escapetest.Attacks...) {
		out := explainIn(t, "lcov", New(hostileExplanation("x"+attack)))
		for line := range strings.Lines(out) {
			if !lcovLine.MatchString(strings.TrimSuffix(line, "\n")) {
				t.Fatalf("with %q: %q", attack, line)
			}
		}
	}
}

// Most people open such files with genhtml.
func TestGenhtmlReadsLCOV(t *testing.T) {
	genhtml, err := exec.LookPath("genhtml")
	if err != nil {
		testenv.Missing(t, "genhtml: apt-get install lcov")
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "fun_xdp.c")
	if err := os.WriteFile(source, []byte(strings.Repeat("line\n", 200)), 0o644); err != nil {
		t.Fatal(err)
	}
	m := New(oneSided())
	m.Paths = map[string]string{"fun_xdp.c": source}
	info := filepath.Join(dir, "lcov.info")
	if err := os.WriteFile(info, []byte(explainIn(t, "lcov", m)), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(genhtml, "--output-directory", filepath.Join(dir, "html"), info).CombinedOutput()
	if err != nil || strings.Contains(string(out), "WARNING") {
		t.Fatalf("%v\n%s", err, out)
	}
	if !regexp.MustCompile(`lines\.+: 70\.0% \(7 of 10 lines\)`).Match(out) {
		t.Errorf("%s", out)
	}
}

func parseProfile(t *testing.T, m *Model) *profile.Profile {
	t.Helper()
	p, err := profile.Parse(strings.NewReader(explainIn(t, "pprof", m)))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPprof(t *testing.T) {
	p := parseProfile(t, New(oneSided()))
	sums := map[string]int64{}
	for _, s := range p.Sample {
		sums[s.Label["benchmark"][0]] += s.Value[1]
		at := s.Location[0]
		if len(at.Line) != 1 || at.Line[0].Function == nil || at.Address < at.Mapping.Start || at.Address >= at.Mapping.Limit {
			t.Errorf("a sample is nowhere: %+v", at)
		}
	}
	// In all runs: what the lines of the benchmark execute, except for
	// rounding.
	if n := sums["xdp/fibonacci_slow"]; n < 3110 || n > 3118 || sums["xdp/stripped"] != 22 {
		t.Errorf("the sums are %v", sums)
	}
	if p.DefaultSampleType != "instructions_per_run" || p.TimeNanos == 0 {
		t.Errorf("%+v", p)
	}
}

func TestPprofOfTwoSides(t *testing.T) {
	var base, head int64
	named := map[string]bool{}
	for _, s := range parseProfile(t, New(twoSided())).Sample {
		if s.Label["benchmark"][0] != "xdp/fibonacci" {
			continue
		}
		named[fmt.Sprint(s.DiffBaseSample(), " ", s.Location[0].Line[0].Function.Name)] = true
		if s.DiffBaseSample() {
			base += s.Value[1]
		} else {
			head += s.Value[1]
		}
	}
	if base > -3110 || base < -3118 || head < 58 || head > 62 {
		t.Errorf("base %d, head %d", base, head)
	}
	if !named["true fun_xdp_fibonacci_slow"] || !named["false fun_xdp_fibonacci"] || named["true fun_xdp_fibonacci"] {
		t.Errorf("the functions of the sides are %v", named)
	}
}

// pprof reads a difference as one: by its lines, in shares of the base.
func TestGoToolPprof(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go")
	}
	e := twoSided()
	for i := range e.Programs {
		for j := range e.Programs[i].Lines {
			l := &e.Programs[i].Lines[j]
			for _, x := range []*bench.Executed{l.Base, l.Head} {
				if x != nil {
					x.Code = nil
				}
			}
		}
	}
	file := filepath.Join(t.TempDir(), "explain.pb.gz")
	if err := os.WriteFile(file, []byte(explainIn(t, "pprof", New(e))), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "tool", "pprof", "-top", "-lines", "-symbolize=none", file)
	cmd.Env = append(os.Environ(), "PPROF_TMPDIR="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{`Type: instructions_per_run`, `-428 +5[0-9.]+%.* fun_xdp_fibonacci_slow fun_xdp.c:109`, `\n +5 .* fun_xdp_fibonacci fun_xdp.c:135`} {
		if !regexp.MustCompile(want).Match(out) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
}

func TestPprofHostile(t *testing.T) {
	for _, attack := range append(escapetest.Names(100), escapetest.Attacks...) {
		parseProfile(t, New(hostileExplanation(attack)))
	}
}
