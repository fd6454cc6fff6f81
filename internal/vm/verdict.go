package vm

import (
	"fmt"
	"strings"
	"time"

	"github.com/org/ebpf-bench-action/internal/vm/guest"
)

// outcome is everything known about a VM that has ended.
type outcome struct {
	mode   Mode
	memory int

	// What the guest reported in its frames.
	hello   bool
	exit    *guest.Exit
	damaged error
	// report is the console's report.
	report report
	// What QEMU said, and the signal or the status that it ended with.
	greeted   bool
	paused    string
	complaint string
	signal    string
	status    int
	// Why it was ended from here.
	cancelled error
	timeout   time.Duration
	hung      bool
}

// verdict interprets the outcome: it returns nil if the command has succeeded,
// for which it takes only the guest's own word.
func (o *outcome) verdict() error {
	switch {
	case o.damaged != nil:
		return o.fault(ErrLost, "its messages are damaged: "+o.damaged.Error())
	case o.exit != nil:
		return o.exitVerdict()
	case o.cancelled != nil:
		return o.cancelled
	case o.mode == KVM && o.kvmFailed():
		return o.kvmVerdict()
	case o.report.noMemory:
		return o.memoryVerdict("")
	case o.hung:
		return o.fault(ErrHung, o.hungReason())
	case o.report.panic != "":
		return o.fault(ErrPanic, o.report.reason())
	case o.timeout > 0:
		return o.timeoutVerdict()
	case strings.Contains(o.complaint, "initrd is too large"):
		return o.memoryVerdict("and its files do not fit in")
	case o.signal != "":
		return o.killedVerdict()
	case o.complaint != "":
		return o.fault(ErrQEMU, o.complaint)
	case !o.hello:
		return o.bootVerdict()
	default:
		return o.fault(ErrLost, "it ended without a word")
	}
}

// fault returns a Fault with the console's trace.
func (o *outcome) fault(kind error, reason string) *Fault {
	return &Fault{Kind: kind, Reason: reason, Trace: o.report.trace()}
}

func (o *outcome) exitVerdict() error {
	switch e := o.exit; {
	case e.Code != 0 && o.report.noMemory:
		return o.memoryVerdict("")
	case e.OOMKills > 0:
		return o.memoryVerdict(fmt.Sprintf("and the kernel killed %d of its processes", e.OOMKills))
	case e.Error != "":
		return o.fault(ErrGuest, e.Error)
	case e.Code != 0:
		return &ExitError{Code: e.Code, Signal: e.Signal}
	}
	return nil
}

func (o *outcome) memoryVerdict(reason string) error {
	f := tooLittleMemory(o.memory, reason)
	f.Trace = o.report.trace()
	return f
}

func tooLittleMemory(memory int, reason string) *Fault {
	text := fmt.Sprintf("it has %d MiB", memory)
	if reason != "" {
		text += ", " + reason
	}
	return &Fault{Kind: ErrMemory, Reason: text, Hint: "give it more memory"}
}

func (o *outcome) hungReason() string {
	reason := "it never got to its first process"
	if o.hello {
		reason = "no sign of life any more"
	}
	if function := o.report.at(); function != "" {
		reason += ", it is in " + function
	}
	return reason
}

func (o *outcome) timeoutVerdict() error {
	if !o.hello {
		return o.fault(ErrTimeout, fmt.Sprintf("the guest did not boot in %s", o.timeout))
	}
	return o.fault(ErrTimeout, fmt.Sprintf("it has not ended after %s", o.timeout))
}

// killedVerdict returns the verdict on a QEMU that somebody else ended.
func (o *outcome) killedVerdict() error {
	f := o.fault(ErrQEMU, "killed by "+o.signal)
	if o.signal == "SIGKILL" {
		f.Hint = "where nobody did that, this machine may be short of memory: see dmesg"
	}
	return f
}

// kvmFailed reports whether KVM is at fault. It is if QEMU aborts, which a
// guest cannot make it do, or if a guest does not even boot.
func (o *outcome) kvmFailed() bool {
	return o.paused != "" || o.signal == "SIGABRT" || strings.Contains(strings.ToLower(o.complaint), "kvm") ||
		!o.hello && o.report.panic == "" && o.signal == "" || !o.hello && o.hung
}

func (o *outcome) kvmVerdict() error {
	switch {
	case o.paused != "":
		return o.fault(ErrKVM, "QEMU paused the guest: "+o.paused)
	case o.complaint != "":
		return o.fault(ErrKVM, o.complaint)
	default:
		return o.fault(ErrKVM, "the guest does not boot under it")
	}
}

func (o *outcome) bootVerdict() error {
	switch {
	case o.report.last != "":
		return o.fault(ErrBoot, o.report.last)
	case !o.greeted:
		return o.fault(ErrQEMU, fmt.Sprintf("it ended without a word, with exit status %d", o.status))
	}
	f := o.fault(ErrBoot, "its kernel printed nothing")
	f.Hint = "the kernel may be damaged, or the guest have too little memory"
	return f
}
