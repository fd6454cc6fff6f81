package kernel

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/kernel/image"
	"github.com/org/ebpf-bench-action/internal/kernel/imagetest"
	"github.com/org/ebpf-bench-action/internal/kernel/modules"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

func newCache(t *testing.T) *Cache {
	t.Helper()
	c, err := OpenCache(filepath.Join(t.TempDir(), "new", "kernels"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// kernelNamed returns a kernel of that release, without modules.
func kernelNamed(release string) *Kernel {
	vmlinux := imagetest.Vmlinux(release, imagetest.PVHNote)
	return &Kernel{
		Release: release, Arch: runtime.GOARCH,
		image: imageOf(vmlinux, image.ELF), modules: imagetest.Must(modules.Index(nil, nil)),
	}
}

func TestACachedKernelIsTheKernel(t *testing.T) {
	c := newCache(t)
	e, err := c.Add(testKernel())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"6.12", imagetest.Release, e.Digest, e.Digest[:8]} {
		k, err := c.Get(name)
		wantTestKernel(t, k, err)
		if k.Digest != e.Digest || k.Origin != "a test" {
			t.Errorf("%s: digest %s, origin %q", name, k.Digest, k.Origin)
		}
		file, err := k.BootFile(t.TempDir())
		if err != nil || filepath.Dir(file) != c.dir || !bytes.Equal(imagetest.Must(os.ReadFile(file)), imagetest.Vmlinux(imagetest.Release, imagetest.PVHNote)) {
			t.Errorf("%s: boots %s, error %v", name, file, err)
		}
	}
	if data := imagetest.Must(os.ReadFile(imagetest.Must(c.Path("6.12")))); imagetest.Sum(data) != e.Digest {
		t.Errorf("digest of the packed kernel is %s, not %s", imagetest.Sum(data), e.Digest)
	}
}

func TestNamesOfCachedKernels(t *testing.T) {
	c := newCache(t)
	for _, release := range []string{"6.12.9-a", "6.12.107-a", "6.1.0-50", "6.12.20-a"} {
		imagetest.Must(c.Add(kernelNamed(release)))
	}
	foreign := kernelNamed("6.12.999-b")
	foreign.Arch = "arm64"
	if runtime.GOARCH == "arm64" {
		foreign.Arch = "amd64"
	}
	imagetest.Must(c.Add(foreign))

	for name, want := range map[string]string{
		"6.12":       "6.12.107-a", // the newest of this architecture
		"6.12.9":     "6.12.9-a",
		"6.1":        "6.1.0-50",
		"6.12.999-b": "6.12.999-b", // by its whole name, even if of another architecture
	} {
		if k, err := c.Get(name); err != nil || k.Release != want {
			t.Errorf("%s is %v, error %v", name, k, err)
		}
	}
	for _, name := range []string{"6.1.0-5", "6.13", "", "../6.12"} {
		if _, err := c.Get(name); !errors.Is(err, ErrNotCached) {
			t.Errorf("%q: error %v", name, err)
		}
	}
	var releases []string
	for _, e := range imagetest.Must(c.List()) {
		releases = append(releases, e.Release)
	}
	if got := fmt.Sprint(releases); got != "[6.1.0-50 6.12.9-a 6.12.20-a 6.12.107-a 6.12.999-b]" {
		t.Errorf("list is %s", got)
	}
}

func TestTheListSaysWhereKernelsCameFrom(t *testing.T) {
	c := newCache(t)
	if e := imagetest.Must(c.Add(testKernel())); e.Origin != "a test" {
		t.Errorf("added with the origin %q", e.Origin)
	}
	imagetest.Must(c.Add(kernelNamed("6.12.999"))) // as if added before origins were recorded
	damaged := kernelNamed("6.13.1")
	damaged.Origin = "a test"
	imagetest.Check(os.Truncate(imagetest.Must(c.Add(damaged)).Path, 20))
	var origins []string
	for _, e := range imagetest.Must(c.List()) {
		origins = append(origins, e.Origin)
	}
	if got := fmt.Sprintf("%q", origins); got != `["a test" "" ""]` {
		t.Errorf("origins are %s", got)
	}
	if text := string(imagetest.Must(json.Marshal(imagetest.Must(c.List())[0]))); !strings.Contains(text, `"origin":"a test"`) {
		t.Errorf("JSON is %s", text)
	}
}

func TestTheKernelAddedLastGoesByTheRelease(t *testing.T) {
	c := newCache(t)
	first, second := kernelNamed("6.12.1"), kernelNamed("6.12.1")
	second.Origin = "another build"
	e := imagetest.Must(c.Add(first))
	old := time.Now().Add(-time.Hour)
	imagetest.Check(os.Chtimes(e.Path, old, old))
	imagetest.Must(c.Add(second))
	if k, err := c.Get("6.12"); err != nil || k.Origin != "another build" {
		t.Errorf("got %v, error %v", k, err)
	}
}

func TestAddingTwiceKeepsOne(t *testing.T) {
	c := newCache(t)
	imagetest.Must(c.Add(testKernel()))
	e := imagetest.Must(c.Add(testKernel()))
	all := imagetest.Must(c.List())
	if len(all) != 1 || all[0].Digest != e.Digest || all[0].Size != e.Size {
		t.Errorf("list is %v", all)
	}
}

func TestRemovedKernelsAreGone(t *testing.T) {
	c := newCache(t)
	for _, release := range []string{"6.12.1", "6.12.2", "6.1.3"} {
		imagetest.Must(c.Add(kernelNamed(release)))
	}
	removed, err := c.Remove("6.12")
	if err != nil || len(removed) != 2 {
		t.Errorf("removed %v, error %v", removed, err)
	}
	left := imagetest.Must(os.ReadDir(c.dir))
	if len(left) != 2 || !strings.HasPrefix(left[0].Name(), "6.1.3_") {
		t.Errorf("left %v", left)
	}
	if _, err := c.Remove("6.12"); !errors.Is(err, ErrNotCached) {
		t.Errorf("error %v", err)
	}
}

// damage changes a byte of a file.
func damage(name string) {
	imagetest.Check(os.WriteFile(name, imagetest.Edited(imagetest.Must(os.ReadFile(name)), func(b []byte) { b[len(b)/2]++ }), 0o644))
}

func TestADamagedImageIsUnpackedAnew(t *testing.T) {
	c := newCache(t)
	e := imagetest.Must(c.Add(testKernel()))
	for name, hurt := range map[string]func(){
		"damaged": func() { damage(e.imagePath()) },
		"missing": func() { imagetest.Check(os.Remove(e.imagePath())) },
		"cut":     func() { imagetest.Check(os.Truncate(e.imagePath(), 10)) },
		"a pipe":  func() { imagetest.Check(errors.Join(os.Remove(e.imagePath()), unix.Mkfifo(e.imagePath(), 0o600))) },
	} {
		hurt()
		k, err := c.Get("6.12")
		wantTestKernel(t, k, err)
		if file := imagetest.Must(k.BootFile("")); !bytes.Equal(imagetest.Must(os.ReadFile(file)), imagetest.Vmlinux(imagetest.Release, imagetest.PVHNote)) {
			t.Errorf("%s: boots another image", name)
		}
	}
}

func TestADamagedPackIsNamed(t *testing.T) {
	c := newCache(t)
	e := imagetest.Must(c.Add(testKernel()))
	damage(e.Path)
	_, err := c.Get("6.12")
	var damaged *damagedError
	if !errors.As(err, &damaged) || damaged.Entry.Digest != e.Digest {
		t.Fatalf("error %v", err)
	}
	imagetest.WantError(t, err, "cached kernel "+imagetest.Release+" is damaged", e.Path)
	imagetest.WantHint(t, err, "ebpf-bench kernel rm "+e.Digest[:12])

	imagetest.Must(c.Add(testKernel()))
	k, err := c.Get("6.12")
	wantTestKernel(t, k, err)
}

func TestFilesOfOthersAreLeftAlone(t *testing.T) {
	c := newCache(t)
	left := "." + entryName("6.1.0", "amd64", imagetest.Sum(nil))
	now := map[string]bool{ // whether it still exists afterwards
		"notes.txt":                   true,
		".profile":                    true,
		"6.1_amd64_beef.tar.zst":      true,
		left + "1":                    true, // being written
		left + "2":                    false,
		".lock-" + imagetest.Sum(nil): false,
	}
	old := time.Now().Add(-2 * time.Hour)
	for name := range now {
		imagetest.WriteFiles(c.dir, imagetest.Files{name: nil})
		if name != left+"1" {
			imagetest.Check(os.Chtimes(filepath.Join(c.dir, name), old, old))
		}
	}
	e := imagetest.Must(c.Add(testKernel()))
	if all := imagetest.Must(c.List()); len(all) != 1 || all[0].Digest != e.Digest {
		t.Errorf("list is %v", all)
	}
	for name, want := range now {
		if _, err := os.Stat(filepath.Join(c.dir, name)); (err == nil) != want {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// addHelper is the environment variable that makes this test binary add
// testKernel to the cache that it names.
const addHelper = "TEST_ADD_TO_CACHE"

func TestMain(m *testing.M) {
	if dir := os.Getenv(addHelper); dir != "" {
		c := imagetest.Must(OpenCache(dir))
		for range 20 {
			imagetest.Must(c.Add(testKernel()))
			imagetest.Must(c.Get("6.12"))
		}
		return
	}
	os.Exit(m.Run())
}

func TestSeveralProcessesAddTheSameKernel(t *testing.T) {
	testenv.Plain(t)
	c := newCache(t)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), addHelper+"="+c.dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	all.Wait()
	k, err := c.Get("6.12")
	wantTestKernel(t, k, err)
	if left := imagetest.Must(os.ReadDir(c.dir)); len(left) != 2 {
		t.Errorf("left %v", left)
	}
}

// counted sets a source of testKernel that counts its calls, and is slow.
func counted(c *Cache) *atomic.Int64 {
	n := new(atomic.Int64)
	c.source = func(context.Context, ...string) (*Kernel, error) {
		n.Add(1)
		time.Sleep(50 * time.Millisecond)
		return testKernel(), nil
	}
	return n
}

func TestAKernelIsFetchedOnce(t *testing.T) {
	c := newCache(t)
	n := counted(c)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			k, err := c.Resolve(t.Context(), "6.12")
			wantTestKernel(t, k, err)
		})
	}
	all.Wait()
	if n.Load() != 1 {
		t.Errorf("fetched %d times", n.Load())
	}
	if left := imagetest.Must(os.ReadDir(c.dir)); len(left) != 2 {
		t.Errorf("left %v", left)
	}
}

func TestADamagedKernelIsReplaced(t *testing.T) {
	c := newCache(t)
	counted(c)
	k := testKernel()
	k.Origin = "an older build"
	old := imagetest.Must(c.Add(k))
	damage(old.Path)

	got, err := c.Resolve(t.Context(), "6.12")
	wantTestKernel(t, got, err)
	if _, err := os.Stat(old.Path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the damaged one: error %v", err)
	}

	damage(imagetest.Must(c.Path("6.12")))
	c.source = func(context.Context, ...string) (*Kernel, error) { return nil, errors.New("no network") }
	_, err = c.Resolve(t.Context(), "6.12")
	imagetest.WantError(t, err, "is damaged", "replacing it failed: no network")
	imagetest.WantHint(t, err, "ebpf-bench kernel rm")
}

func TestAWaitingProcessCanBeStopped(t *testing.T) {
	c := newCache(t)
	unlock, err := c.lock(t.Context(), "6.12")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := c.Resolve(ctx, "6.12"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}

// BenchmarkGet measures Get, which every boot waits for.
func BenchmarkGet(b *testing.B) {
	c := imagetest.Must(OpenCache(""))
	for _, e := range imagetest.Must(c.List()) {
		b.Run(e.Release, func(b *testing.B) {
			for b.Loop() {
				k := imagetest.Must(c.open(e))
				if _, _, err := k.Modules(needed...); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
