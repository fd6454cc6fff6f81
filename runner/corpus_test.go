package runner

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cilium/ebpf/rlimit"

	"github.com/org/ebpf-bench-action/internal/testenv"
)

var (
	corpusGlob   = flag.String("corpus", "", "glob of the objects that the tests of a corpus take; those at hand if it is empty")
	corpusRepeat = flag.Int("repeat", 3, "how often the tests of a corpus run each program, on the same packets from the same start")
)

// corpusObject is an object of the corpus.
type corpusObject struct {
	name string
	data []byte
}

// corpus reads the objects at hand: our own and, if wanted, those of others:
// cilium/ebpf tests with some, if Go is installed, and Debian installs some
// (xdp-tools).
func corpus(t *testing.T, others bool) (objects []corpusObject) {
	t.Helper()
	testenv.Root(t)
	if err := rlimit.RemoveMemlock(); err != nil {
		t.Fatal(err)
	}
	globs := []string{*corpusGlob}
	if *corpusGlob == "" {
		testenv.Long(t, "takes each program of many objects")
		testenv.Host(t, "the objects of others")
		// All but faults.o, which is made to hang.
		globs = []string{"../programs/*/*.o", "../cmd/ebpf-bench/testdata/objects/[^f]*.o"}
		if others {
			globs = append(globs, "/usr/lib/*/bpf/*.o")
		}
		if _, err := exec.LookPath("go"); err == nil && others {
			dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/cilium/ebpf").Output()
			if err != nil {
				t.Fatalf("find the module of cilium/ebpf: %v", err)
			}
			module := strings.TrimSpace(string(dir))
			globs = append(globs, module+"/testdata/*-el.elf", module+"/examples/*/*_bpfel.o", module+"/examples/*/*_x86_bpfel.o")
		}
	}
	for _, glob := range globs {
		names, err := filepath.Glob(glob)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			objects = append(objects, corpusObject{name, data})
		}
	}
	if len(objects) == 0 {
		t.Fatalf("no file is named %s", strings.Join(globs, ", "))
	}
	return objects
}

// tally counts things by class.
type tally map[string]int

// log logs the numbers of each class.
func (c tally) log(t *testing.T, what string) {
	t.Helper()
	classes := make([]string, 0, len(c))
	for class := range c {
		classes = append(classes, class)
	}
	slices.Sort(classes)
	for _, class := range classes {
		t.Logf("%s: %s: %d", what, class, c[class])
	}
}

// percentage returns n as a percentage of of.
func percentage(n, of int) float64 { return 100 * float64(n) / float64(max(of, 1)) }
