package host

import (
	"errors"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
)

func TestAKernelThatIsTooOldIsNamed(t *testing.T) {
	for release, older := range map[string]bool{"5.10.0-32-cloud-amd64": true, "6.6.1": true, "6.7.0": false, "6.12.107+deb13": false, "7.2": false, "": true} {
		if got := olderThan(release, "6.7"); got != older {
			t.Errorf("%q is older than 6.7: %t", release, got)
		}
	}
	p := &ebpf.ProgramSpec{Type: ebpf.CGroupSockAddr, AttachType: ebpf.AttachCgroupUnixConnect, SectionName: "cgroup/connect_unix"}
	other := errors.New("another")
	var old *TooOldError
	if err := TooOld(p, other); errors.As(err, &old) {
		t.Errorf("got %v", err)
	}
	err := &TooOldError{"6.1.0", "cgroup/connect_unix", "6.7", other}
	if !strings.HasPrefix(err.Error(), "kernel 6.1.0 lacks cgroup/connect_unix, ") || !errors.Is(err, other) {
		t.Errorf("got %v", err)
	}
}
