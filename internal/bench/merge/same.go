package merge

import (
	"cmp"
	"fmt"
	"maps"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// differError returns the error that two files are not parts of the same, and why.
func differError(a, b *piece, format string, args ...any) error {
	return fmt.Errorf("%s and %s cannot be merged: %s", a.file, b.file, fmt.Sprintf(format, args...))
}

// checkSame refuses pieces that were not measured with one suite by one tool.
func checkSame(all []*piece) error {
	a := all[0]
	for _, b := range all[1:] {
		switch {
		case (a.run == nil) != (b.run == nil):
			return differError(a, b, "one has results of ebpf-bench run%s, and the other of ebpf-bench compare", withoutBase(a, b))
		case a.tool != b.tool:
			return differError(a, b, "they come from different versions of ebpf-bench: %q and %q", a.tool, b.tool)
		case (a.shard == nil) != (b.shard == nil):
			return differError(a, b, "one is a shard (%v), and the other is not", cmp.Or(a.shard, b.shard))
		case a.shard != nil && a.shard.Of != b.shard.Of:
			return differError(a, b, "they are shards of different numbers: %v and %v", a.shard, b.shard)
		case a.comparison != nil && a.comparison.Base != b.comparison.Base:
			return otherAttemptHint(a, b, differError(a, b, "they have different bases: %s and %s", wordsOf(a.comparison.Base), wordsOf(b.comparison.Base)))
		case a.comparison != nil && a.comparison.Head != b.comparison.Head:
			return differError(a, b, "they have different heads: %s and %s", wordsOf(a.comparison.Head), wordsOf(b.comparison.Head))
		}
	}
	return nil
}

// withoutBase says why one of two pieces has no base, if a reason is known.
func withoutBase(a, b *piece) string {
	if a.run == nil {
		a = b
	}
	if a.run.NoBase == "" {
		return ""
	}
	return fmt.Sprintf(", because there was no base (%s: %s)", a.file, a.run.NoBase)
}

// otherAttemptHint adds a hint to the error about two pieces of several attempts.
func otherAttemptHint(a, b *piece, err error) error {
	if a.workflow.Before(b.workflow) || b.workflow.Before(a.workflow) {
		return bench.WithHint(err, "the base moved between two attempts of the workflow: re-run all its jobs")
	}
	return err
}

// wordsOf describes all that is known about a side.
func wordsOf(s bench.Side) string {
	text := fmt.Sprintf("%q", s.Name)
	if s.Commit != "" {
		text += fmt.Sprintf(" of commit %.12q", s.Commit)
	}
	if s.Branch != "" {
		text += fmt.Sprintf(" on %q", s.Branch)
	}
	if s.Note != "" {
		text += fmt.Sprintf(", %q", s.Note)
	}
	if s.Merged {
		text += ", merged into the base"
	}
	return text
}

// checkKernel refuses pieces for one kernel that were measured in different ways, or
// twice.
func checkKernel(pieces []*piece) error {
	a := pieces[0]
	files, shards := map[string]*piece{}, map[bench.Shard]*piece{}
	for _, b := range pieces {
		if b.shard != nil {
			if other := shards[*b.shard]; other != nil {
				return differError(other, b, "both have shard %v on Linux %s", b.shard, b.testbed.Kernel)
			}
			shards[*b.shard] = b
		}
		if differs := unlikeTestbed(a.testbed, b.testbed); differs != "" {
			return bench.WithHint(differError(a, b, "on Linux %s they were measured on different testbeds: %s", a.testbed.Kernel, differs), unlikeHint(a.testbed))
		}
		if b.comparison != nil {
			if differs := unlikeBase(a.comparison.BaseTestbed, b.comparison.BaseTestbed); differs != "" {
				return differError(a, b, "their bases were measured on different testbeds: %s", differs)
			}
		}
		for _, name := range b.names {
			if other := files[name]; other != nil {
				return differError(other, b, "both have benchmark %q on Linux %s", name, b.testbed.Kernel)
			}
			files[name] = b
		}
	}
	return nil
}

func unlikeHint(t *bench.Testbed) string {
	if t.Mode == bench.ModeExact {
		return "count with the same version of QEMU everywhere"
	}
	return "time all shards on machines of one kind; or count instructions, which gives the same result on every machine (exact mode)"
}

// unlikeTestbed says how two testbeds of the same kernel differ in a way that affects the
// numbers, or returns an empty string. The host does not matter if instructions are
// counted.
func unlikeTestbed(a, b *bench.Testbed) string {
	timed := a.Mode != bench.ModeExact
	for _, f := range []struct {
		name   string
		a, b   any
		always bool
	}{
		{"mode", a.Mode, b.Mode, true},
		{"architecture", a.Arch, b.Arch, true},
		{"build of the kernel", a.KernelBuild, b.KernelBuild, true},
		{"CPU", a.CPU, b.CPU, true},
		{"QEMU", a.QEMU, b.QEMU, !timed},
		{"number of cores", a.Cores, b.Cores, timed},
		{"hypervisor", a.Virtual, b.Virtual, timed},
		{"JIT", a.JIT, b.JIT, timed},
		{"hardening of the JIT", a.JITHarden, b.JITHarden, timed},
	} {
		if f.always && f.a != f.b {
			return fmt.Sprintf("%s %q and %q", f.name, fmt.Sprint(f.a), fmt.Sprint(f.b))
		}
	}
	if timed && !maps.Equal(a.Mitigations, b.Mitigations) {
		return "mitigations of the CPU"
	}
	return ""
}

// unlikeBase is unlikeTestbed for the testbeds of stored bases.
func unlikeBase(a, b *bench.Testbed) string {
	switch {
	case a == nil && b == nil:
		return ""
	case a == nil || b == nil:
		return "one was measured beside its head, the other is stored"
	case a.Kernel != b.Kernel:
		return fmt.Sprintf("Linux %q and %q", a.Kernel, b.Kernel)
	}
	return unlikeTestbed(a, b)
}
