// Package probe knows what this kernel and machine can do, and what somebody
// who measures eBPF programs loses where they cannot.
//
// A probe does the real thing wherever it can: it loads a tiny program,
// attaches it, makes its hook fire, sees that the kernel counts it, and lets
// go. Whatever it makes hangs on a file descriptor or on a thread of its own,
// so nothing stays behind even when it is killed.
//
// The package knows nothing of benchmarks and decides nothing: what to do
// about an answer is its caller's business.
package probe

import (
	"context"
	"errors"
	"os"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// Answer is what a probe found out.
type Answer string

// The three answers. Only Yes and No are conclusive: Unknown says that the
// probe itself broke, which is never read as No.
const (
	Yes     Answer = "yes"
	No      Answer = "no"
	Unknown Answer = "unknown"
)

// answer reads an error as package features of cilium/ebpf means it: nil,
// ErrNotSupported, or anything else.
func answer(err error) Answer {
	switch {
	case err == nil:
		return Yes
	case errors.Is(err, ebpf.ErrNotSupported):
		return No
	}
	return Unknown
}

// Probe asks one question of this kernel and machine.
type Probe struct {
	Name string `json:"name"`
	// For is what the ability is good for, Cost what is lost without it, and
	// Fix how to get it.
	For  string `json:"for"`
	Cost string `json:"cost,omitempty"`
	Fix  string `json:"fix,omitempty"`

	check func() error
}

// Finding is the answer that a probe got. Its Cost and Fix are empty where
// there is nothing to lose or to do.
type Finding struct {
	Probe
	Answer Answer `json:"answer"`
	// Reason is why the answer is No, or how the probe broke.
	Reason string `json:"reason,omitempty"`
}

// Run asks. A probe is a handful of syscalls, so ctx is looked at before it
// and not during it.
func (p Probe) Run(ctx context.Context) Finding {
	err := ctx.Err()
	if err == nil {
		err = permission(p.check())
	}

	f := Finding{Probe: p, Answer: answer(err)}
	switch f.Answer {
	case Yes:
		f.Cost, f.Fix = "", ""
		return f
	case Unknown:
		// Fix says how to get what is missing, and nobody knows that it is.
		f.Fix = ""
	}
	f.Reason = err.Error()
	if hint := bench.Hint(err); hint != "" {
		f.Fix = hint
	}
	return f
}

// NeedsRoot is the Reason of an answer that is Unknown because a process without
// capabilities has asked.
const NeedsRoot = "needs root"

// permission tells apart the two meanings of a refusal. To a process that
// lacks capabilities it says nothing about the machine. One that has them all
// is refused for good, by lockdown, seccomp or a kernel of its owner's making.
func permission(err error) error {
	if !errors.Is(err, os.ErrPermission) || errors.Is(err, ebpf.ErrNotSupported) {
		return err
	}
	if lackCapabilities() {
		return bench.WithHint(errors.New(NeedsRoot), "run as root")
	}
	return bench.WithHint(
		lacking("forbidden, though no capability is missing: %w", err),
		"use a kernel, and a container if there is one, whose security policy permits it",
	)
}

// Doctor runs every probe, in an order that lets the first No explain those
// after it.
func Doctor(ctx context.Context) []Finding {
	findings := make([]Finding, 0, len(probes))
	for _, p := range probes {
		findings = append(findings, p.Run(ctx))
	}
	return findings
}
