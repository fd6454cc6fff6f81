package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/rlimit"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/fleet"
	"github.com/org/ebpf-bench-action/internal/insn"
	"github.com/org/ebpf-bench-action/internal/object"
	"github.com/org/ebpf-bench-action/internal/probe"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/runner"
)

// insnTest tests programs on this kernel, from one CPU.
type insnTest struct {
	cpu    uint32
	repeat int
	types  *btf.Cache
}

// testInsn tests every program of the objects on the running kernel.
func testInsn(ctx context.Context, t *ui.Terminal, objects []objectFile, repeat int) (*insnReport, error) {
	r := &insnReport{Version: 1, Tool: version(), Testbed: probe.Testbed(), Repeat: repeat, Programs: []insnProgram{}, Unread: map[string]string{}}
	r.Testbed.Mode = bench.ModeHost
	if err := rlimit.RemoveMemlock(); err != nil {
		return nil, bench.WithHint(fmt.Errorf("remove the limit of locked memory: %w", err), "run as root, such as with sudo, or in a virtual machine by --kernel")
	}
	stats, err := ebpf.EnableStats(uint32(unix.BPF_STATS_RUN_TIME))
	if err != nil {
		return nil, bench.WithHint(fmt.Errorf("enable BPF statistics: %w", err), "run as root, such as with sudo, or in a virtual machine by --kernel")
	}
	defer stats.Close()
	cpu, release, err := pinToCPU()
	if err != nil {
		return nil, err
	}
	defer release()
	test := &insnTest{cpu: cpu, repeat: repeat, types: btf.NewCache()}
	for _, o := range objects {
		read, err := object.Parse(o.data)
		if err != nil {
			r.Unread[o.name] = err.Error()
			continue
		}
		for _, name := range read.Programs() {
			if ctx.Err() != nil {
				return nil, fleet.Interrupted(ctx, ctx.Err())
			}
			p := insnProgram{Object: o.name, Program: name, Type: object.TypeName(read.Entry(name).Type)}
			test.check(read, &p)
			r.Programs = append(r.Programs, p)
		}
	}
	r.sum()
	if r.Total.Loadable == 0 {
		err = errors.New("no program of the objects loads on this kernel")
	}
	return r, err
}

// check tests one program.
func (t *insnTest) check(o *object.Object, p *insnProgram) {
	var one *ebpf.CollectionSpec
	one, p.Changes = o.Program(p.Program)
	for _, program := range one.Programs {
		p.Insns += len(program.Instructions)
	}
	plain, err := t.load(one)
	if err != nil {
		p.Refused = failureOf(err)
		return
	}
	depths := map[string][]int{}
	for name, program := range plain.Programs {
		depths[name] = insn.StackDepths(program.VerifierLog)
		p.VerifiedInsns += verifiedInsns(program.VerifierLog)
	}
	unload(plain)

	variants := []*insnVariant{
		{load: &p.Minimal, placement: insn.Minimal},
		{load: &p.EveryBlock, placement: insn.EveryBlock},
	}
	for _, v := range variants {
		v.instrument(one.Copy(), depths)
		if v.load.Refused != nil {
			continue
		}
		coll, err := t.load(v.spec)
		if err != nil {
			v.load.Refused = failureOf(err)
			continue
		}
		for _, program := range coll.Programs {
			v.load.VerifiedInsns += verifiedInsns(program.VerifierLog)
		}
		unload(coll)
	}
	if p.counted() {
		t.runAll(one, variants, p)
	}
}

// insnVariant is a program with counters.
type insnVariant struct {
	load      *insnLoad
	placement insn.Placement
	spec      *ebpf.CollectionSpec
	table     *insn.Table
}

func (v *insnVariant) instrument(spec *ebpf.CollectionSpec, depths map[string][]int) {
	began := time.Now()
	table, err := insn.Instrument(spec, insn.Options{Placement: v.placement, StackDepths: depths})
	v.load.NS = time.Since(began).Nanoseconds()
	if err != nil {
		v.load.Refused = failureOf(err)
		return
	}
	for _, p := range table.Programs {
		v.load.Blocks += len(p.Blocks)
		for _, b := range p.Blocks {
			v.load.Counters += ones(b.Counter != insn.Derived)
		}
	}
	v.spec, v.table = spec, table
}

func (t *insnTest) load(spec *ebpf.CollectionSpec) (*ebpf.Collection, error) {
	spec = spec.Copy()
	if err := runner.AnswerKconfig(spec); err != nil {
		return nil, err
	}
	return ebpf.NewCollectionWithOptions(spec, ebpf.CollectionOptions{Programs: ebpf.ProgramOptions{LogLevel: ebpf.LogLevelStats}, Cache: t.types})
}

// unload frees a collection, and lets the kernel do so: it frees programs by
// work that it puts off, and what piles up of that on one CPU can block it.
func unload(coll *ebpf.Collection) {
	coll.Close()
	const membarrierGlobal = 1
	_, _, _ = unix.Syscall(unix.SYS_MEMBARRIER, membarrierGlobal, 0, 0)
	time.Sleep(time.Millisecond)
}

var processedInsns = regexp.MustCompile(`(?m)^processed (\d+) insns`)

// verifiedInsns reads the verifier's work from its log, which also kernels
// write that do not tell it otherwise.
func verifiedInsns(log string) int {
	all := processedInsns.FindAllStringSubmatch(log, -1)
	if len(all) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(all[len(all)-1][1])
	return n
}

// failureOf puts an error of loading into a class.
func failureOf(err error) *insnFailure {
	why := err.Error()
	var verifier *ebpf.VerifierError
	if errors.As(err, &verifier) {
		why = verifierSays(verifier)
	}
	return &insnFailure{Class: failureClass(err, verifier != nil, why), Why: why}
}

func failureClass(err error, verifier bool, why string) string {
	says := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(why, part) })
	}
	switch {
	case errors.Is(err, insn.ErrStack), verifier && says("stack size", "stack of previous frames", "stack off"):
		return "no room on the stack"
	case errors.Is(err, insn.ErrJumpRange):
		return "a jump too far"
	case errors.Is(err, insn.ErrIndirectJump):
		return "an indirect jump"
	case errors.Is(err, btf.ErrNotFound), errors.Is(err, unix.ESRCH), errors.Is(err, unix.ENOENT):
		return "the kernel lacks what it refers to"
	case errors.Is(err, ebpf.ErrNotSupported):
		return "the kernel lacks a feature"
	case says("BPF program is too large", "too many instructions", "too complex"), errors.Is(err, unix.E2BIG):
		return "too much for the verifier"
	case says("attach", "Tracing programs must provide btf_id", "target"):
		return "it takes something to attach to"
	case verifier && says("unknown func", "invalid func", "unknown opcode", "unrecognized", "program of this type cannot use helper"):
		return "the kernel lacks a feature"
	case verifier:
		return "refused by the verifier"
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return "refused by the kernel: " + errno.Error()
	}
	return "other"
}

// verifierSays is the last line of the verifier's log that is no statistic.
func verifierSays(err *ebpf.VerifierError) string {
	for _, line := range slices.Backward(err.Log) {
		if line = strings.TrimSpace(line); line != "" && !statistic.MatchString(line) {
			return line
		}
	}
	return err.Cause.Error()
}

var statistic = regexp.MustCompile(`^(processed \d|insns processed \d|verification time \d|stack depth \d)`)
