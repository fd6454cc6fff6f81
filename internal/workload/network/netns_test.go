package network

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/internal/workload/workloadtest"
)

func TestANetnsHasNothingButLoopback(t *testing.T) {
	testenv.Root(t)
	ns := newNetns(t)

	var names []string
	err := ns.Do(func() error {
		ifaces, err := net.Interfaces()
		for _, iface := range ifaces {
			names = append(names, iface.Name)
		}
		return err
	})
	if err != nil || !slices.Equal(names, []string{"lo"}) {
		t.Fatalf("interfaces %q (%v), want lo alone", names, err)
	}
}

func TestDoReturnsTheErrorAndLeavesNoThreadBehind(t *testing.T) {
	testenv.Root(t)
	ns := newNetns(t)

	want := errors.New("told you so")
	if err := ns.Do(func() error { return want }); !errors.Is(err, want) {
		t.Errorf("Do returned %v, want %v", err, want)
	}
	inside, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", ns.FD()))
	if err != nil {
		t.Fatal(err)
	}
	workloadtest.WaitUntil(t, "the threads to leave the namespace", func() bool {
		return !slices.Contains(netnsOfThreads(t, os.Getpid()), inside)
	})
}

// netnsOfThreads returns the network namespaces of a process's threads.
func netnsOfThreads(t *testing.T, pid int) []string {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/ns/net", pid))
	if err != nil {
		t.Fatal(err)
	}
	var namespaces []string
	for _, file := range files {
		if ns, err := os.Readlink(file); err == nil {
			namespaces = append(namespaces, ns)
		}
	}
	return namespaces
}

func newNetns(t *testing.T) *Netns {
	t.Helper()
	ns, err := NewNetns()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ns.Close() })
	return ns
}
