package object

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode"

	"github.com/org/ebpf-bench-action/internal/object/objecttest"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

// libbpfObject has features that only libbpf reads directly.
const libbpfObject = "../../cmd/ebpf-bench/testdata/objects/libbpf.o"

// realObjects returns the objects of cilium/ebpf's tests, and our own.
func realObjects(t testing.TB) (objects [][]byte) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/cilium/ebpf").Output()
	if err != nil {
		t.Fatalf("find the module of cilium/ebpf: %v", err)
	}
	for _, pattern := range []string{filepath.Join(strings.TrimSpace(string(dir)), "testdata", "*-el.elf"), "../../programs/*/*.o", libbpfObject} {
		files, _ := filepath.Glob(pattern)
		for _, name := range files {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			objects = append(objects, data)
		}
	}
	if len(objects) < 30 {
		t.Fatalf("only %d objects", len(objects))
	}
	return objects
}

// parseAll parses an object and makes all of its programs loadable. It fails
// the test for what no object may do to its reader.
func parseAll(t testing.TB, data []byte) error {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	o, err := Parse(data)
	if err != nil {
		oneLine(t, err.Error())
	} else {
		for _, name := range o.Programs() {
			_, changes := o.Program(name)
			for _, c := range changes {
				oneLine(t, c)
			}
		}
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > maxZeroes*4+1000*uint64(len(data)) {
		t.Errorf("%d MiB were allocated for an object of %d bytes", n>>20, len(data))
	}
	return err
}

func oneLine(t testing.TB, text string) {
	t.Helper()
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		t.Errorf("it is not a line: %q", text)
	}
}

func TestMalformedObjects(t *testing.T) {
	testenv.Plain(t)
	var read, refused int
	for i, data := range objecttest.Malformed(1, 1000, realObjects(t)) {
		if err := parseAll(t, data); err != nil {
			refused++
		} else {
			read++
		}
		if t.Failed() {
			t.Fatalf("object %d", i)
		}
	}
	t.Logf("%d were refused, %d read all the same", refused, read)
	if refused < 100 || read < 100 {
		t.Errorf("of 1,000 malformed objects %d were refused and %d read: too few of either to test anything", refused, read)
	}
}

func FuzzParse(f *testing.F) {
	for _, data := range realObjects(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) { _ = parseAll(t, data) })
}
