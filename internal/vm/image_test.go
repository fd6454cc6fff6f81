package vm

import (
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
)

func tempFile(t testing.TB, data []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestAFileThatIsNoKernelIsRefused(t *testing.T) {
	self, err := os.ReadFile(selfExe)
	if err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(t.TempDir(), "missing")
	for name, want := range map[string]string{
		missing:                          "no such file or directory",
		t.TempDir():                      "is a directory",
		tempFile(t, nil):                 "it is too short for one",
		tempFile(t, []byte("\x7fELF")):   "it is too short for one",
		tempFile(t, make([]byte, 1<<20)): "neither a bzImage nor a vmlinux",
		tempFile(t, append([]byte("\x7fELF"), make([]byte, 4096)...)): "unknown ELF class",
		tempFile(t, self): "an ELF file without a PVH entry point",
	} {
		_, err := checkImage(name)
		if !errors.Is(err, ErrNoKernel) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", name, err, want)
		}
	}
}

func TestABzImageTellsHowMuchMemoryItTakes(t *testing.T) {
	image := make([]byte, 4096)
	copy(image[0x202:], "HdrS")
	binary.LittleEndian.PutUint64(image[0x258:], 16<<20)
	binary.LittleEndian.PutUint32(image[0x260:], 50<<20)
	end, err := checkImage(tempFile(t, image))
	if err != nil || end != 66<<20 {
		t.Errorf("it ends at %d: %v", end, err)
	}
}

func FuzzImage(f *testing.F) {
	image := make([]byte, 0x264)
	copy(image[0x202:], "HdrS")
	f.Add(image)
	f.Add([]byte("\x7fELF\x02\x01\x01"))
	f.Fuzz(func(t *testing.T, data []byte) {
		kernelEnd(strings.NewReader(string(data)))
	})
}

func TestADynamicBinaryIsRefused(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	_, err = openBinary(shell)
	if !errors.Is(err, ErrDynamic) || !strings.Contains(bench.Hint(err), "CGO_ENABLED=0") {
		t.Errorf("%s: got %v, hint %q", shell, err, bench.Hint(err))
	}
	if _, err := openBinary(tempFile(t, []byte("#!/bin/sh\n"))); err == nil {
		t.Error("a script was taken for a binary")
	}
}
