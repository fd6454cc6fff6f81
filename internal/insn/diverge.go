package insn

import (
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/insn/bytecode"
)

// Divergence is a block that several runs did not execute equally often.
type Divergence struct {
	Program, Function string
	Start, Slot       int      // index of its first instruction, and its slot in the function
	Counts            []uint64 // by run
	// Helpers are the program's helpers that may explain it: those whose
	// answers depend on time, chance or other activity, including may_goto. If
	// there are none, they are those that give access to what earlier runs left
	// behind.
	Helpers []string
}

// Diverge returns the blocks that runs of the same programs, each counted by
// Sub, did not execute equally often. There are none in programs that depend
// only on their input. Callbacks that are called later are not part of a run.
func Diverge(runs ...*Counts) []Divergence {
	if len(runs) < 2 {
		return nil
	}
	var all []Divergence
	for i, p := range runs[0].table.Programs {
		var found []Divergence
		slots := p.Slots()
		for b := range p.Blocks {
			counts := make([]uint64, len(runs))
			for r := range runs {
				counts[r] = runs[r].blocks[i][b]
			}
			if slices.Min(counts) == slices.Max(counts) || p.Functions[p.Blocks[b].Function].Later != "" {
				continue
			}
			found = append(found, Divergence{
				Program: p.Name, Function: p.Functions[p.Blocks[b].Function].Name,
				Start: p.Blocks[b].Start, Slot: slots[p.Blocks[b].Start] - slots[p.Functions[p.Blocks[b].Function].Start], Counts: counts,
			})
		}
		if len(found) > 0 {
			helpers := p.explanations()
			for d := range found {
				found[d].Helpers = helpers
			}
		}
		all = append(all, found...)
	}
	return all
}

// explanations returns the program's helpers that may make its runs differ, in
// order of their names.
func (p *Program) explanations() []string {
	var ambient, stored []string
	for i := range p.Instructions {
		if isMayGoto(p.Instructions[i].OpCode) {
			ambient = append(ambient, mayGotoTime)
		}
		h, ok := bytecode.HelperOf(&p.Instructions[i])
		if !ok {
			continue
		}
		switch f := asm.BuiltinFunc(p.Instructions[i].Constant); {
		case slices.Contains(ambientHelpers, f):
			ambient = append(ambient, h.Name)
		case slices.Contains(storeHelpers, f):
			stored = append(stored, h.Name)
		}
	}
	if len(ambient) == 0 {
		ambient = stored
	}
	slices.Sort(ambient)
	return slices.Compact(ambient)
}

// Repeatable reports whether the programs always do the same for the same
// input: they have no map that they could write, and call nothing whose answer
// depends on time, chance or other activity. It does not see what they read in
// the kernel itself.
func (t *Table) Repeatable(spec *ebpf.CollectionSpec) bool {
	for _, p := range t.Programs {
		for i := range p.Instructions {
			ins := &p.Instructions[i]
			switch f := asm.BuiltinFunc(ins.Constant); {
			case ins.IsKfuncCall():
				return false
			case ins.IsBuiltinCall() && (slices.Contains(ambientHelpers, f) || slices.Contains(storeHelpers, f) && f != asm.FnTailCall):
				return false
			case ins.IsLoadFromMap() && !constant(spec.Maps[ins.Reference()]):
				return false
			}
		}
	}
	return true
}

// constant reports whether a program cannot change a map.
func constant(m *ebpf.MapSpec) bool {
	return m != nil && (m.Type == ebpf.ProgramArray || m.Flags&unix.BPF_F_RDONLY_PROG != 0)
}

// mayGotoTime describes what bounds a loop with may_goto: since Linux 6.15, a
// quarter of a second, and before that, 8,388,608 iterations
// (kernel/bpf/core.c, bpf_check_timed_may_goto).
const mayGotoTime = "how long may_goto lets a loop go on"

func isMayGoto(op asm.OpCode) bool { return op.Class() == asm.JumpClass && op.JumpOp() == asm.JCOND }

// ambientHelpers may answer differently each time, whatever the input.
var ambientHelpers = []asm.BuiltinFunc{
	// Time.
	asm.FnKtimeGetNs, asm.FnKtimeGetBootNs, asm.FnKtimeGetCoarseNs, asm.FnKtimeGetTaiNs, asm.FnJiffies64,
	// Chance.
	asm.FnGetPrandomU32,
	// Where and for whom it runs.
	asm.FnGetSmpProcessorId, asm.FnGetNumaNodeId, asm.FnPerCpuPtr, asm.FnThisCpuPtr,
	asm.FnGetCurrentPidTgid, asm.FnGetNsCurrentPidTgid, asm.FnGetCurrentComm,
	asm.FnGetCurrentTask, asm.FnGetCurrentTaskBtf, asm.FnCurrentTaskUnderCgroup,
	// What the kernel and others are doing.
	asm.FnPerfEventRead, asm.FnPerfEventReadValue, asm.FnPerfProgReadValue,
	asm.FnReadBranchRecords, asm.FnGetBranchSnapshot,
	asm.FnGetStack, asm.FnGetStackid, asm.FnGetTaskStack,
	asm.FnProbeRead, asm.FnProbeReadStr, asm.FnProbeReadKernel, asm.FnProbeReadKernelStr,
	asm.FnProbeReadUser, asm.FnProbeReadUserStr, asm.FnCopyFromUser, asm.FnCopyFromUserTask,
	asm.FnSkLookupTcp, asm.FnSkLookupUdp, asm.FnSkcLookupTcp, asm.FnFibLookup,
	asm.FnGetSocketCookie, asm.FnGetNetnsCookie, asm.FnFindVma,
}

// storeHelpers give access to what outlives a run.
var storeHelpers = []asm.BuiltinFunc{
	asm.FnMapLookupElem, asm.FnMapUpdateElem, asm.FnMapDeleteElem, asm.FnMapLookupPercpuElem,
	asm.FnMapPushElem, asm.FnMapPopElem, asm.FnMapPeekElem, asm.FnForEachMapElem,
	asm.FnRingbufReserve, asm.FnRingbufOutput, asm.FnRingbufReserveDynptr, asm.FnRingbufQuery, asm.FnUserRingbufDrain,
	asm.FnPerfEventOutput, asm.FnSkbOutput, asm.FnXdpOutput,
	asm.FnGetLocalStorage, asm.FnSkStorageGet, asm.FnInodeStorageGet, asm.FnTaskStorageGet, asm.FnCgrpStorageGet,
	asm.FnTailCall, asm.FnKptrXchg,
}
