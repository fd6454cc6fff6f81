package probe

import (
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/features"
)

func TestDoctorIsConclusiveAsRoot(t *testing.T) {
	needRoot(t)
	for _, f := range Doctor(t.Context()) {
		t.Logf("%-26s %-8s %s", f.Name, f.Answer, f.Reason)
		switch f.Answer {
		case Yes:
			if f.Reason != "" || f.Cost != "" || f.Fix != "" {
				t.Errorf("%s: yes, but %+v", f.Name, f)
			}
		case No:
			if f.Reason == "" || f.Cost == "" || f.Fix == "" {
				t.Errorf("%s: no without a reason, a cost or a fix: %+v", f.Name, f)
			}
		default:
			t.Errorf("%s: %s: %s", f.Name, f.Answer, f.Reason)
		}
	}
}

// A feature that depends only on the version of the kernel must be present from
// that version on, so that a broken probe cannot pass for an old kernel.
func TestProbesFindWhatTheVersionPromises(t *testing.T) {
	needRoot(t)
	kernel, err := features.LinuxVersionCode()
	if err != nil {
		t.Fatal(err)
	}
	found := byName(Doctor(t.Context()))
	for _, c := range []struct {
		name         string
		major, minor uint32
	}{
		{"capabilities", 2, 6},
		{"bpf()", 4, 4},
		{"test_run xdp", 4, 12},
		{"test_run skb", 4, 12},
		{"BPF_ENABLE_STATS", 5, 8},
		{"recursion_misses", 5, 12},
		{"verified_insns", 5, 16},
		{"live frames", 5, 18},
	} {
		if kernel < c.major<<16|c.minor<<8 {
			continue
		}
		if f := found[c.name]; f.Answer != Yes {
			t.Errorf("%s is in Linux %d.%d, but the probe answers %q: %s", c.name, c.major, c.minor, f.Answer, f.Reason)
		}
	}
}

// The user nobody may do little, which says little about the kernel.
func TestDoctorAsNobody(t *testing.T) {
	needRoot(t)
	const nobody = 65534
	root := byName(Doctor(t.Context()))
	for name, f := range doctorAs(t, &syscall.SysProcAttr{
		Credential: &syscall.Credential{Uid: nobody, Gid: nobody},
	}) {
		switch {
		case name == "capabilities" || name == "kvm" || name == "qemu":
			// These probes are about the asking process.
		case f.Answer == No && root[name].Answer != No:
			t.Errorf("%s: nobody answers no (%s) and root %s", name, f.Reason, root[name].Answer)
		case f.Answer != Yes && f.Reason == "":
			t.Errorf("%s: %s without a reason", name, f.Answer)
		case f.Answer == Unknown && f.Reason != NeedsRoot:
			t.Errorf("%s: %s", name, f.Reason)
		}
	}
}

func TestCapabilitiesOfAUserNamespaceDoNotCount(t *testing.T) {
	needRoot(t)
	self := []syscall.SysProcIDMap{{Size: 1}}
	f := doctorAs(t, &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: self,
		GidMappings: self,
	})["capabilities"]
	if f.Answer != No || !strings.Contains(f.Reason, "CAP_BPF") || !strings.Contains(f.Reason, "user namespace") {
		t.Errorf("answers %s: %s", f.Answer, f.Reason)
	}
}

func TestDoctorLeavesNothingBehind(t *testing.T) {
	needRoot(t)
	Doctor(t.Context()) // warms up the runtime and the libraries, which keep some resources

	before := traces(t)
	Doctor(t.Context())
	after := traces(t)
	for what := range before {
		if before[what] != after[what] {
			t.Errorf("%s changed from %q to %q", what, before[what], after[what])
		}
	}

	// The kernel frees programs a little later.
	deadline := time.Now().Add(10 * time.Second)
	for ; ownPrograms(t) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d programs of the probes are still loaded", ownPrograms(t))
		}
	}
}

// traces returns what a probe could leave behind in the process or on the
// machine, except what others may change meanwhile.
func traces(t *testing.T) map[string]string {
	t.Helper()
	netns, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	interfaces, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	var links []string
	for _, i := range interfaces {
		if strings.HasPrefix(i.Name, "probe") {
			links = append(links, i.Name)
		}
	}
	stats, err := os.ReadFile("/proc/sys/kernel/bpf_stats_enabled")
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	descriptors, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"network namespace": netns,
		"links":             strings.Join(links, " "),
		"stats":             string(stats),
		"descriptors":       fmt.Sprint(len(descriptors)),
	}
}

func ownPrograms(t *testing.T) int {
	t.Helper()
	n := 0
	for id, err := ebpf.ProgramGetNextID(0); err == nil; id, err = ebpf.ProgramGetNextID(id) {
		prog, err := ebpf.NewProgramFromID(id)
		if err != nil {
			continue // gone meanwhile
		}
		if info, err := prog.Info(); err == nil && info.Name == progName {
			n++
		}
		prog.Close()
	}
	return n
}

// The main thread never ends, so a namespace on it would stay, and show in
// /proc/self for everybody.
func TestNetNSSparesTheMainThread(t *testing.T) {
	needRoot(t)
	const mainThread = "/proc/self/ns/net"
	before, err := os.Readlink(mainThread)
	if err != nil {
		t.Fatal(err)
	}

	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			if err := inNetNS(func() error {
				inside, err := os.Readlink("/proc/thread-self/ns/net")
				if err == nil && inside == before {
					t.Error("the thread is in the namespace of the process")
				}
				return err
			}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()

	after, err := os.Readlink(mainThread)
	if err != nil {
		t.Fatal(err)
	}
	if after != before {
		t.Errorf("the main thread moved from %s to %s", before, after)
	}
}
