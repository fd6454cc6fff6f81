package runner

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"

	"github.com/cilium/ebpf/features"
	"github.com/cilium/ebpf/rlimit"

	"github.com/org/ebpf-bench-action/internal/object"
	"github.com/org/ebpf-bench-action/internal/object/objecttest"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/programs"
	"github.com/org/ebpf-bench-action/runner/internal/load"
)

// bundledObjects returns the tool's bundled objects, except those of one
// folder.
func bundledObjects(t *testing.T, except string) (objects [][]byte) {
	t.Helper()
	names, err := fs.Glob(programs.FS, "*/*.o")
	if err != nil || len(names) == 0 {
		t.Fatalf("bundled objects %q: %v", names, err)
	}
	for _, name := range names {
		if path.Dir(name) == except {
			continue
		}
		data, err := programs.FS.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, data)
	}
	return objects
}

// lines fails if a line of an error is empty or unprintable.
func lines(t *testing.T, err error) {
	t.Helper()
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if line == "" || strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("it is not a line: %q", line)
		}
	}
}

func TestPlansOfMalformedObjects(t *testing.T) {
	testenv.Plain(t)
	planned := 0
	for i, data := range objecttest.Malformed(2, 1000, bundledObjects(t, "")) {
		jobs, err := planOfObject(data)
		if err != nil {
			lines(t, err)
		}
		planned += jobs
		if t.Failed() {
			t.Fatalf("object %d", i)
		}
	}
	t.Logf("%d benchmarks of 1,000 malformed objects", planned)
	if planned < 100 {
		t.Errorf("only %d benchmarks: the objects test nothing", planned)
	}
}

// planOfObject plans the suite that the tool suggests for an object.
func planOfObject(data []byte) (jobs int, err error) {
	text, err := Suggest([]suite.Object{suite.NewObject("a.o", data)}, nil)
	if err != nil {
		return 0, err
	}
	s, err := suite.Load(fstest.MapFS{"suite.yml": {Data: []byte(text)}, "a.o": {Data: data}}, "suite.yml")
	if err != nil {
		return 0, err
	}
	plan, err := NewPlan(s)
	if err != nil {
		return 0, err
	}
	return len(plan.Jobs), nil
}

// This loads hundreds of programs in a row, so it runs in a virtual machine;
// see vmtest. Each series of Linux gets other objects.
func TestKernelLoadsOfMalformedObjects(t *testing.T) {
	testenv.Long(t, "loads hundreds of objects")
	if !testenv.InGuest() {
		t.Skip("this test runs in a virtual machine, by TestOnKernels of vmtest")
	}
	if err := rlimit.RemoveMemlock(); err != nil {
		t.Fatal(err)
	}
	release, err := features.LinuxVersionCode()
	if err != nil {
		t.Fatal(err)
	}
	classes := map[string]int{}
	// The number of steps of work is data: most damage to it makes a loop that
	// the verifier follows to its limit, for half a minute on an emulated CPU.
	for i, data := range objecttest.Malformed(uint64(release>>8), 250, bundledObjects(t, "work")) {
		o, err := object.Parse(data)
		if err != nil {
			classes["not read"]++
			continue
		}
		for _, name := range o.Programs() {
			class := "loaded"
			if _, err := tryLoad(o, name); err != nil {
				lines(t, err)
				class = load.Class(err)
			}
			classes[class]++
		}
		if t.Failed() {
			t.Fatalf("object %d", i)
		}
	}
	t.Log(fmt.Sprint(classes))
}
