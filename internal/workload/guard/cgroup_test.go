package guard

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/internal/workload/sockets"
	"github.com/org/ebpf-bench-action/internal/workload/worker"
	"github.com/org/ebpf-bench-action/internal/workload/workloadtest"
)

var exchangeOfTest = bench.Exchange{Protocol: bench.ProtocolTCP, Size: 64, Count: 10, Port: 7}

// holdCgroupWithWorker says which cgroup it holds, which has a process.
func holdCgroupWithWorker() {
	c := workloadtest.Must(NewCgroup())
	workloadtest.Must(worker.Start(context.Background(), sockets.TaskOpenDevice, sockets.TaskArgs(exchangeOfTest, 0), worker.Place{Cgroup: c.Folder}))
}

// cgroups returns the existing cgroups of the tool.
func cgroups(t *testing.T) (names []string) {
	t.Helper()
	top, err := openHierarchy()
	if err != nil {
		t.Fatal(err)
	}
	defer top.Close()
	fd, err := unix.Openat(int(top.Fd()), ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	folder := os.NewFile(uintptr(fd), "cgroup2")
	defer folder.Close()
	all, err := folder.Readdirnames(-1)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		if strings.HasPrefix(name, "ebpf-bench-") {
			names = append(names, name)
		}
	}
	return names
}

func TestAWorkerStartsInACgroupThatEndsWithIt(t *testing.T) {
	testenv.Root(t)
	c, err := NewCgroup()
	if err != nil {
		t.Fatal(err)
	}
	name := c.Folder.Name()[strings.LastIndexByte(c.Folder.Name(), '/')+1:]
	w, err := worker.Start(t.Context(), sockets.TaskOpenDevice, sockets.TaskArgs(exchangeOfTest, 0), worker.Place{Cgroup: c.Folder})
	if err != nil {
		c.Close()
		t.Fatal(err)
	}
	if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", w.PID())); err != nil || !strings.Contains(string(text), "0::/"+name+"\n") {
		t.Errorf("the worker is in %q, want %s: %v", text, name, err)
	}
	if done, err := w.Try(t.Context(), 3); err != nil || done != 3 {
		t.Errorf("opened the device %d times: %v", done, err)
	}
	// Processes in the cgroup do not keep it.
	if err := c.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if slices.Contains(cgroups(t), name) {
		t.Errorf("cgroup %s is left", name)
	}
	w.Close()
}

func TestACgroupEndsWithAKilledTool(t *testing.T) {
	testenv.Root(t)
	before := cgroups(t)
	tool := workloadtest.StartTool(t, "cgroup")
	var made []string
	for _, name := range cgroups(t) {
		if !slices.Contains(before, name) {
			made = append(made, name)
		}
	}
	helpers := workloadtest.Descendants(t, tool.Pid)
	if len(made) == 0 || len(helpers) < 2 {
		t.Fatalf("the tool has made %v, with %v", made, helpers)
	}
	tool.Signal(unix.SIGKILL)
	workloadtest.WaitEnded(t, helpers)
	workloadtest.WaitUntil(t, "the end of the cgroup", func() bool {
		return !slices.ContainsFunc(cgroups(t), func(name string) bool { return slices.Contains(made, name) })
	})
}

// A cgroup is found even if nothing can be mounted.
func TestTheHierarchyIsFound(t *testing.T) {
	testenv.Root(t)
	f, err := mountHierarchy()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var about unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &about); err != nil || about.Type != unix.CGROUP2_SUPER_MAGIC {
		t.Errorf("got a file system of type %#x: %v", about.Type, err)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range hierarchiesIn(string(mounts)) {
		if err := unix.Statfs(found, &about); err != nil || about.Type != unix.CGROUP2_SUPER_MAGIC {
			t.Errorf("%s is a file system of type %#x: %v", found, about.Type, err)
		}
	}
	const text = "23 1 0:28 / /sys rw - sysfs sysfs rw\n" +
		"41 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:3 - cgroup2 cgroup2 rw\n" +
		"42 31 0:39 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\nrubbish\n"
	if got := hierarchiesIn(text); !slices.Equal(got, []string{"/sys/fs/cgroup/unified"}) {
		t.Errorf("got %q", got)
	}
}
