package vm

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/vm/guest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// The consoles were recorded from the kernels in their names; oops was written
// by hand, for lack of a bug.
func TestAConsoleTellsWhyTheGuestEnded(t *testing.T) {
	hung := outcome{hello: true, hung: true, signal: "SIGKILL"}
	for name, o := range map[string]outcome{
		"panic-5.10":  {hello: true},
		"panic-6.12":  {hello: true},
		"oops":        {hello: true},
		"hang-6.1":    hung,
		"hang-6.12":   hung,
		"hang-7.2":    hung,
		"memory-5.10": {memory: 64},
		"memory-7.2":  {memory: 96},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("testdata", "consoles", name+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			o.report = (&console{text}).report()
			got := fmt.Sprintf("%+v\n", o.verdict())
			golden := filepath.Join("testdata", "consoles", name+".golden")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got:\n%swant:\n%s", got, want)
			}
		})
	}
}

func TestEveryOutcomeHasItsVerdict(t *testing.T) {
	success, failure := &guest.Exit{}, &guest.Exit{Code: 3}
	died := errors.New("checksum")
	printed := func(lines ...string) report {
		return (&console{[]byte(strings.Join(lines, "\n"))}).report()
	}
	const msr = "error: failed to set MSR 0x10a to 0x69"
	for name, test := range map[string]struct {
		outcome outcome
		kind    error
		want    string
	}{
		"the command succeeds": {outcome{hello: true, exit: success}, nil, ""},
		"it succeeds, although QEMU was killed then": {
			outcome{hello: true, exit: success, signal: "SIGKILL"}, nil, ""},
		"the command fails":         {outcome{hello: true, exit: failure}, nil, "exit status 3"},
		"a signal ends the command": {outcome{hello: true, exit: &guest.Exit{Code: -1, Signal: "segmentation fault"}}, nil, "signal: segmentation fault"},
		"the command does not start": {
			outcome{hello: true, exit: &guest.Exit{Error: "no such folder"}}, ErrGuest, "the guest failed: no such folder"},
		"the command uses up the memory": {
			outcome{hello: true, memory: 256, exit: &guest.Exit{Code: -1, Signal: "killed", OOMKills: 1}},
			ErrMemory, "the guest ran out of memory: it has 256 MiB, and the kernel killed 1 of its processes"},
		"the command succeeds, and what it started uses up the memory": {
			outcome{hello: true, memory: 256, exit: &guest.Exit{OOMKills: 2}},
			ErrMemory, "the guest ran out of memory: it has 256 MiB, and the kernel killed 2 of its processes"},
		"QEMU has no room for the files": {
			outcome{memory: 80, complaint: "initrd is too large, cannot support (max: 1, need 2)"},
			ErrMemory, "the guest ran out of memory: it has 80 MiB, and its files do not fit in"},
		"a frame is damaged": {
			outcome{hello: true, damaged: died, exit: success, signal: "SIGKILL"},
			ErrLost, "the guest was lost: its messages are damaged: checksum"},
		"the command succeeds while it is cancelled": {
			outcome{hello: true, exit: success, cancelled: context.Canceled, signal: "SIGKILL"}, nil, ""},
		"it was cancelled": {
			outcome{hello: true, cancelled: context.Canceled, signal: "SIGKILL"}, context.Canceled, "context canceled"},
		"the command never ends": {
			outcome{hello: true, timeout: time.Minute, signal: "SIGKILL"},
			ErrTimeout, "the command timed out: it has not ended after 1m0s"},
		"there is too little time to boot": {
			outcome{timeout: time.Second, signal: "SIGKILL"},
			ErrTimeout, "the command timed out: the guest did not boot in 1s"},
		"something kills QEMU": {
			outcome{hello: true, signal: "SIGTERM"}, ErrQEMU, "QEMU failed: killed by SIGTERM"},
		"QEMU complains": {
			outcome{complaint: "invalid accelerator"}, ErrQEMU, "QEMU failed: invalid accelerator"},
		"the guest restarts without a word": {
			outcome{hello: true}, ErrLost, "the guest was lost: it ended without a word"},
		"the kernel prints nothing": {
			outcome{greeted: true}, ErrBoot, "the guest did not boot: its kernel printed nothing"},
		"QEMU ends at once": {
			outcome{status: 1}, ErrQEMU, "QEMU failed: it ended without a word, with exit status 1"},
		"the command cannot read its files": {
			outcome{hello: true, memory: 256, exit: failure, report: report{noMemory: true}},
			ErrMemory, "the guest ran out of memory: it has 256 MiB"},
		"the kernel prints something": {
			outcome{report: printed("[    0.1] one", "[    0.2] two", "[    0.3] reboot: Restarting system")},
			ErrBoot, "the guest did not boot: two"},
		"the guest's first process fails": {
			outcome{report: printed("ebpf-bench: mount devtmpfs: no such device", "[    0.3] reboot: machine restart")},
			ErrBoot, "the guest did not boot: ebpf-bench: mount devtmpfs: no such device"},
		"the guest hangs before it is up": {
			outcome{hung: true, signal: "SIGKILL"}, ErrHung, "the guest hung: it never got to its first process"},
		"KVM makes QEMU abort": {
			outcome{mode: KVM, signal: "SIGABRT", complaint: msr}, ErrKVM, "KVM does not work: " + msr},
		"KVM cannot start": {
			outcome{mode: KVM, complaint: "failed to initialize kvm: Permission denied"},
			ErrKVM, "KVM does not work: failed to initialize kvm: Permission denied"},
		"KVM pauses a guest that runs": {
			outcome{mode: KVM, hello: true, paused: "internal-error", signal: "SIGKILL", complaint: "KVM internal error. Suberror: 1"},
			ErrKVM, "KVM does not work: QEMU paused the guest: internal-error"},
		"a guest does not boot under KVM": {
			outcome{mode: KVM, hung: true, signal: "SIGKILL"}, ErrKVM, "KVM does not work: the guest does not boot under it"},
		"a kernel panics under KVM": {
			outcome{mode: KVM, report: printed("[    0.1] Kernel panic - not syncing: VFS: Unable to mount root fs")},
			ErrPanic, "the guest's kernel panicked: VFS: Unable to mount root fs"},
		"a guest hangs under KVM": {
			outcome{mode: KVM, hello: true, hung: true}, ErrHung, "the guest hung: no sign of life any more"},
		"a guest under KVM has too little time": {
			outcome{mode: KVM, timeout: time.Second, signal: "SIGKILL"},
			ErrTimeout, "the command timed out: the guest did not boot in 1s"},
		"something kills QEMU under KVM": {
			outcome{mode: KVM, hello: true, signal: "SIGKILL"}, ErrQEMU, "QEMU failed: killed by SIGKILL"},
	} {
		t.Run(name, func(t *testing.T) {
			err := test.outcome.verdict()
			if test.want == "" {
				if err != nil {
					t.Errorf("got %v, want success", err)
				}
				return
			}
			if err == nil || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
			if test.kind != nil && !errors.Is(err, test.kind) {
				t.Errorf("%v is not %v", err, test.kind)
			}
		})
	}
}
