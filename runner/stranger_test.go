package runner

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/org/ebpf-bench-action/internal/testenv"
)

// Another module can benchmark its own program, and benchstat reads the
// results.
func TestModuleOfAStranger(t *testing.T) {
	testenv.Plain(t)
	testenv.Root(t)
	testenv.Tools(t, "go", "setpriv")
	here, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for from, to := range map[string]string{
		"testdata/stranger/classify_test.go": "classify_test.go", "testdata/stranger/suite_test.go": "suite_test.go",
		"../programs/fun_xdp/fun_xdp_bpfel.o": "fun_xdp.o", "testdata/hooks.o": "hooks.o", "../go.sum": "go.sum", "../go.mod": "go.mod",
	} {
		data, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if to == "go.mod" { // with the versions of this module, which are available offline
			data = regexp.MustCompile(`(?m)^module .*$`).ReplaceAll(data, []byte("module example.org/stranger"))
			data = fmt.Appendf(data, "\nrequire github.com/org/ebpf-bench-action v0.0.0\n\nreplace github.com/org/ebpf-bench-action => %s\n", here)
		}
		testenv.Write(t, filepath.Join(dir, to), data)
	}
	for name, program := range map[string]string{"base.yml": "fun_xdp_fibonacci", "head.yml": "fun_xdp_fibonacci_slow"} {
		testenv.Write(t, filepath.Join(dir, name), fmt.Appendf(nil, `version: 1
objects: ["*.o"]
benchmarks:
  - {name: fibonacci, program: %s, test_run: {packets: [{ipv4: {src: 10.0.0.252}, udp: {dst: 53}}]}}
  - {name: attached, program: raw_tp, command: {attach: raw_tp/sys_enter, load: syscalls}}
`, program))
	}
	// The examples of the documentation compile beside a program that bpf2go would bring.
	testenv.Write(t, filepath.Join(dir, "documented", "documented_test.go"), documented(t))
	vet := exec.Command("go", "vet", "-mod=mod", "./documented")
	vet.Dir, vet.Env = dir, append(os.Environ(), "GOFLAGS=")
	if out, err := vet.CombinedOutput(); err != nil {
		t.Errorf("the examples of docs/go-api.md: %v\n%s", err, out)
	}
	suites := exec.Command("go", "test", "-mod=mod", "-run", "TestSlower", ".")
	suites.Dir, suites.Env = dir, append(os.Environ(), "GOFLAGS=")
	if out, err := suites.CombinedOutput(); err != nil {
		t.Errorf("compare two suites: %v\n%s", err, out)
	}
	bench := func(ci string, prefix ...string) ([]byte, error) {
		args := append(prefix, "go", "test", "-mod=mod", "-run", "^$", "-bench", "Classify", "-benchtime", "100ms", "-count", "6", ".")
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=", "CI="+ci)
		return cmd.CombinedOutput()
	}
	figures, err := bench("true")
	if err != nil {
		t.Fatalf("%v\n%s", err, figures)
	}
	stat := exec.Command("go", "tool", "-modfile="+filepath.Join(here, "tools", "go.mod"), "benchstat", "-")
	stat.Dir, stat.Stdin = here, bytes.NewReader(figures)
	table, err := stat.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, table)
	}
	t.Logf("%s\n%s", figures, table)
	for _, want := range []string{`(?m)^Classify\S* +[0-9.]+[nµ] ±`, `floor-sec/op`, `bpf-insns/op`, `(?m)^Classify\S* +203\.0 ± 0%`} {
		if !regexp.MustCompile(want).Match(table) {
			t.Errorf("%s is missing in\n%s", want, table)
		}
	}
	// Without privileges it names what is missing; in CI, that is a failure.
	unprivileged := []string{"setpriv", "--inh-caps=-all", "--bounding-set=-all"}
	if out, err := bench("", unprivileged...); err != nil || bytes.Contains(out, []byte("ns/op")) {
		t.Errorf("without privileges: %v\n%s", err, out)
	}
	if out, err := bench("true", unprivileged...); err == nil || !bytes.Contains(out, []byte("it takes root's capabilities CAP_")) {
		t.Errorf("without privileges in CI: %v\n%s", err, out)
	}
}

// documented returns the Go code of docs/go-api.md as a test file.
func documented(t *testing.T) []byte {
	t.Helper()
	page, err := os.ReadFile("../docs/go-api.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?ms)^```go\n(.*?)^```$").FindAllSubmatch(page, -1)
	if len(blocks) != 2 {
		t.Errorf("docs/go-api.md has %d examples", len(blocks))
	}
	text := []byte(`package documented

import (
	"os"
	"testing"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/runner"
	"github.com/org/ebpf-bench-action/thresholds"
)

var packet = make([]byte, 64)

func loadClassify() (*ebpf.CollectionSpec, error) { return nil, nil }
`)
	for _, b := range blocks {
		text = append(text, b[1]...)
	}
	return text
}
