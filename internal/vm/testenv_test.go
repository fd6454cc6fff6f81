package vm

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/org/ebpf-bench-action/internal/kernel"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

// kernels are the releases that the tests run on.
var kernels = []string{"5.10", "6.1", "6.12", "7.2"}

// newCmd returns a command on one of the cached kernels.
func newCmd(t testing.TB, release string, args ...string) *Cmd {
	t.Helper()
	testenv.Long(t, "boots a virtual machine")
	if _, err := exec.LookPath(qemuName); err != nil {
		testenv.MissingKernel(t, qemuName+": apt-get install qemu-system-x86")
	}
	k := cachedKernel(t, release)
	image, err := k.BootFile(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	cmd := &Cmd{Image: image, Path: guestBinary(t), Args: args, Stderr: os.Stderr}
	modules, lacking, err := k.Modules("veth")
	if err != nil || len(lacking) > 0 {
		t.Fatalf("kernel %s lacks modules %v: %v", release, lacking, err)
	}
	for _, m := range modules {
		cmd.Modules = append(cmd.Modules, Module(m))
	}
	return cmd
}

func cachedKernel(t testing.TB, release string) *kernel.Kernel {
	t.Helper()
	cache, err := kernel.OpenCache("")
	if err != nil {
		t.Fatal(err)
	}
	k, err := cache.Get(release)
	if errors.Is(err, kernel.ErrNotCached) {
		testenv.MissingKernel(t, "kernel "+release+": ebpf-bench kernel add "+release)
	}
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// guestBinary returns a test binary that a guest can run: this one, unless it
// is dynamic, as with the race detector.
func guestBinary(t testing.TB) string {
	t.Helper()
	f, err := openBinary("")
	if err == nil {
		f.Close()
		return ""
	}
	if !errors.Is(err, ErrDynamic) {
		t.Fatal(err)
	}
	name, err := staticBinary()
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// buildDir is the folder of the static binary, until TestMain removes it.
var buildDir string

var staticBinary = sync.OnceValues(func() (name string, err error) {
	if buildDir, err = os.MkdirTemp("", "ebpf-bench-vm-"); err != nil {
		return "", err
	}
	name = filepath.Join(buildDir, "vm.test")
	build := exec.Command("go", "test", "-c", "-vet=off", "-o", name, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	build.Stderr = os.Stderr
	return name, build.Run()
})
