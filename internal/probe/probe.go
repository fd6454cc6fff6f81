// Package probe finds out what this kernel and machine can do, and what is lost
// for measuring eBPF programs if they cannot.
//
// A probe does the real thing if it can: it loads a tiny program, attaches it,
// makes its hook fire, checks that the kernel counts it, and lets go.
// Everything it makes belongs to a file descriptor or a separate thread, so
// nothing stays behind even if it is killed.
//
// The package knows nothing about benchmarks and decides nothing: its caller
// decides what to do about an answer.
package probe

import (
	"context"
	"errors"
	"os"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// Answer is the answer of a probe.
type Answer string

// The three answers. Only Yes and No are conclusive: Unknown means that the
// probe itself broke, which never counts as No.
const (
	Yes     Answer = "yes"
	No      Answer = "no"
	Unknown Answer = "unknown"
)

// answer interprets an error as package features of cilium/ebpf does: nil,
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
	// For is the purpose of the ability, Cost what is lost without it, and Fix
	// how to get it.
	For  string `json:"for"`
	Cost string `json:"cost,omitempty"`
	Fix  string `json:"fix,omitempty"`

	check func() error
}

// Finding is the answer that a probe got. Its Cost and Fix are empty if there
// is nothing to lose or to do.
type Finding struct {
	Probe
	Answer Answer `json:"answer"`
	// Reason is why the answer is No, or how the probe broke.
	Reason string `json:"reason,omitempty"`
}

// Run asks. A probe is a handful of syscalls, so ctx is checked before it and
// not during it.
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
		// Fix says how to get what is missing, and it may not be missing.
		f.Fix = ""
	}
	f.Reason = err.Error()
	if hint := bench.Hint(err); hint != "" {
		f.Fix = hint
	}
	return f
}

// NeedsRoot is the Reason of an answer that is Unknown because the process
// lacks capabilities.
const NeedsRoot = "needs root"

// permission distinguishes the two meanings of a refusal. To a process that
// lacks capabilities it says nothing about the machine. If the process has them
// all, the refusal is final, by lockdown, seccomp or a customized kernel.
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

// Doctor runs every probe, in an order in which the first No explains those
// after it.
func Doctor(ctx context.Context) []Finding {
	findings := make([]Finding, 0, len(probes))
	for _, p := range probes {
		findings = append(findings, p.Run(ctx))
	}
	return findings
}
