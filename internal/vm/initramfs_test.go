package vm

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cavaliergopher/cpio"
)

// binaryFile is something that a guest could start, as far as an initramfs is
// concerned.
func binaryFile(t testing.TB) *os.File {
	t.Helper()
	name := filepath.Join(t.TempDir(), "binary")
	if err := os.WriteFile(name, []byte("a binary"), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

var exampleCmd = Cmd{
	Args:    []string{"run"},
	Modules: []Module{{"b", []byte("module b")}, {"a", []byte("module a")}},
	Files:   map[string][]byte{"/suite/x.o": []byte("object"), "/suite/deep/er/y": nil, "/a": []byte("file")},
}

func TestTheInitramfsHoldsAllThatTheGuestNeeds(t *testing.T) {
	var archive bytes.Buffer
	if err := exampleCmd.writeInitramfs(&archive, binaryFile(t)); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	var order []string
	for r := cpio.NewReader(&archive); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name], order = string(data), append(order, h.Name)
	}
	for name, want := range map[string]string{
		"init": "a binary", "suite/x.o": "object", "a": "file",
		"ebpf-bench/modules/a.ko": "module a", "ebpf-bench/modules/b.ko": "module b",
	} {
		if files[name] != want {
			t.Errorf("%s holds %q, want %q", name, files[name], want)
		}
	}
	// The kernel makes only the folders that the archive lists.
	for i, name := range order {
		dir := filepath.Dir(name)
		if dir != "." && !slices.Contains(order[:i], dir) {
			t.Errorf("%s comes before its folder", name)
		}
	}
	if config := files["ebpf-bench/config.json"]; !strings.Contains(config, `["/ebpf-bench/modules/b.ko","/ebpf-bench/modules/a.ko"]`) {
		t.Errorf("the modules are not in their order: %s", config)
	}
}

func TestTheSameCommandMakesTheSameInitramfs(t *testing.T) {
	var first bytes.Buffer
	binary := binaryFile(t)
	for range 20 {
		if _, err := binary.Seek(0, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		var archive bytes.Buffer
		if err := exampleCmd.writeInitramfs(&archive, binary); err != nil {
			t.Fatal(err)
		}
		if first.Len() == 0 {
			first = archive
		}
		if !bytes.Equal(archive.Bytes(), first.Bytes()) {
			t.Fatal("two of them differ")
		}
	}
}

func TestFilesStayOutOfTheGuestsOwnPlaces(t *testing.T) {
	for _, name := range []string{"relative", "/", "/a/../b", "/a/", "/init", "/dev/null", "/tmp/x", "/sys", "/ebpf-bench/config.json"} {
		cmd := Cmd{Files: map[string][]byte{name: nil}}
		if err := cmd.writeInitramfs(io.Discard, binaryFile(t)); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}
