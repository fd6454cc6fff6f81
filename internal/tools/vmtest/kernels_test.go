package main

import (
	"bufio"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/kernel/kerneltest"
	"github.com/org/ebpf-bench-action/internal/probe"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

// kernels are the releases that the tests run on.
var kernels = []string{"6.12", "5.10", "6.1", "7.2"}

// packages have tests that need a kernel.
var packages = []string{
	"./internal/insn/...", "./internal/pmu", "./internal/probe", "./internal/workload/...", "./programs/...", "./runner/...",
}

// root is the folder of the module.
const root = "../../.."

// files and tools are what these tests read and call.
const (
	files = "../../docs/*.md,../../docs/recipes/bencher.yml,../../go.mod,../../Makefile,../../README.md,../../internal/report/measured/testdata/bmf.schema.json,../../programs/*.yml,../../programs/*/*.o,../../runner/testdata/*.o,../../runner/testdata/target"
	tools = "awk,base64,bash,bpftool,cat,chmod,cp,cut,date,dd,dirname,env,false,find,git,grep,head,id,ip,kill,ln,ls,make,mkdir,mkfifo,mktemp,mv,pgrep,readlink,rm,sed,setpriv,setsid,sh,sha256sum,sleep,sort,stat,tail,timeout,touch,tr,true,truncate,umount,unshare,mount,wc"
)

// The tests that need a kernel pass on other kernels, too. With -short those that this
// machine's kernel cannot or must not run pass on Linux 6.12.
func TestOnKernels(t *testing.T) {
	if !kerneltest.CanBoot(t) {
		testenv.MissingKernel(t, "QEMU or kernels: make kernels")
	}
	releases, args, least := kernels, packages, 100
	switch {
	case testenv.NoHost():
		releases, args = []string{"6.12"}, append(args, "./cmd/ebpf-bench")
	case testing.Short():
		names, in := hostSkips(t)
		releases, args, least = []string{"6.12"}, append([]string{"-run", "^(" + strings.Join(names, "|") + ")$"}, in...), len(names)
	}
	if testing.Short() {
		args = append([]string{"-short"}, args...)
	}
	vmtest := filepath.Join(t.TempDir(), "vmtest")
	build := exec.Command("go", "build", "-o", vmtest, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build vmtest: %v\n%s", err, out)
	}
	for _, release := range releases {
		t.Run(release, func(t *testing.T) {
			if !testing.Short() {
				testenv.Takes(t, 8*time.Minute)
			}
			runner := strings.Join([]string{vmtest, "-kernel", release, "-memory", "4096", "-files", files, "-tools", tools}, " ")
			passed := testOn(t, append([]string{"test", "-json", "-count=1", "-p", "2", "-vet=off", "-timeout", "60m", "-exec", runner}, args...))
			if passed < least {
				t.Errorf("only %d tests passed", passed)
			}
		})
	}
}

// hostSkips returns the tests that call testenv.Guest, or testenv.Probe for something that
// this machine's kernel lacks, and the packages that they are in.
func hostSkips(t *testing.T) (names, in []string) {
	t.Helper()
	lacks := map[string]bool{}
	for _, f := range probe.Doctor(t.Context()) {
		lacks[strconv.Quote(f.Name)] = f.Answer == probe.No
	}
	list := exec.Command("go", append([]string{"list", "-f", "{{.Dir}}"}, packages...)...)
	list.Dir = root
	dirs, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for dir := range strings.Lines(string(dirs)) {
		files, err := filepath.Glob(filepath.Join(strings.TrimSpace(dir), "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		before := len(names)
		for _, name := range files {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "Test") && skips(f, lacks) {
					names = append(names, f.Name.Name)
				}
			}
		}
		if len(names) > before {
			in = append(in, strings.TrimSpace(dir))
		}
	}
	return names, in
}

// skips reports whether a test calls testenv.Guest, or testenv.Probe with a literal that
// names something lacking.
func skips(test *ast.FuncDecl, lacks map[string]bool) (found bool) {
	ast.Inspect(test, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 2 {
			return true
		}
		f, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		l, ok := call.Args[1].(*ast.BasicLit)
		found = found || ok && (f.Sel.Name == "Guest" || f.Sel.Name == "Probe" && lacks[l.Value])
		return true
	})
	return found
}

// testOn runs go test -json, reports the tests that fail, and counts those that pass.
func testOn(t *testing.T, args []string) (passed int) {
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	// What a kernel lacks is skipped there; the package fails where it does not start.
	cmd.Env = append(os.Environ(), "CI=", "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	type key struct{ Package, Test string }
	output := map[key]string{}
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		var event struct {
			key
			Action, Output string
		}
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			t.Errorf("go test: %s", lines.Text())
			continue
		}
		switch event.Action {
		case "output":
			output[event.key] += event.Output
		case "fail", "build-fail":
			t.Errorf("%s %s\n%s", event.Package, event.Test, output[event.key])
		case "pass":
			if event.Test != "" {
				passed++
			}
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("go test: %v", err)
	}
	return passed
}
