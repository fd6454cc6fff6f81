package pmu

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// The map runsMap has one value per CPU: the fields below, then the readings at
// the entry of the current run, and then the sums of the differences between
// the readings at all exits and entries.
const (
	runsMap = "runs"
	// entered is 1 from a run's entry to its exit. So an exit without an
	// observed entry counts nothing.
	entered = 0
	// runsSeen is the number of runs from entry to exit.
	runsSeen = 8
	readings = 16
)

func eventsMap(event int) string { return fmt.Sprintf("events_%d", event) }

// profilePrograms returns two programs that trace a function of target: one
// reads the events before each run, the other after it.
func profilePrograms(events int, target *ebpf.Program, function string) *ebpf.CollectionSpec {
	spec := &ebpf.CollectionSpec{
		Maps: map[string]*ebpf.MapSpec{runsMap: {
			Type: ebpf.PerCPUArray, KeySize: 4, ValueSize: uint32(readings + 2*readingSize*events), MaxEntries: 1,
		}},
		Programs: map[string]*ebpf.ProgramSpec{},
	}
	for i := range events {
		spec.Maps[eventsMap(i)] = &ebpf.MapSpec{Type: ebpf.PerfEventArray}
	}
	trace := func(name string, at ebpf.AttachType, code asm.Instructions) {
		spec.Programs[name] = &ebpf.ProgramSpec{
			Name: name, Type: ebpf.Tracing, AttachType: at, License: "GPL",
			AttachTarget: target, AttachTo: function, Instructions: code,
		}
	}
	trace("entry", ebpf.AttachTraceFEntry, entryCode(events))
	trace("exit", ebpf.AttachTraceFExit, exitCode(events))
	return spec
}

// entryCode stores the counters before a run.
func entryCode(events int) asm.Instructions {
	code := findRuns()
	for i := range events {
		code = append(code, readEvent(i, asm.R6, readings+readingSize*i)...)
	}
	return append(append(code, asm.StoreImm(asm.R6, entered, 1, asm.Word)), leave()...)
}

// exitCode adds the increase of the counters after the run.
func exitCode(events int) asm.Instructions {
	code := append(findRuns(),
		asm.LoadMem(asm.R1, asm.R6, entered, asm.Word),
		asm.JEq.Imm(asm.R1, 0, "leave"),
		asm.StoreImm(asm.R6, entered, 0, asm.Word),
	)
	after := -readingSize * events
	for i := range events {
		code = append(code, readEvent(i, asm.RFP, after+readingSize*i)...)
	}
	for field := 0; field < readingSize*events; field += 8 {
		before, sum := int16(readings+field), int16(readings+readingSize*events+field)
		code = append(code,
			asm.LoadMem(asm.R1, asm.RFP, int16(after+field), asm.DWord),
			asm.LoadMem(asm.R2, asm.R6, before, asm.DWord),
			asm.Sub.Reg(asm.R1, asm.R2),
			asm.LoadMem(asm.R2, asm.R6, sum, asm.DWord),
			asm.Add.Reg(asm.R2, asm.R1),
			asm.StoreMem(asm.R6, sum, asm.R2, asm.DWord),
		)
	}
	return append(append(code,
		asm.LoadMem(asm.R1, asm.R6, runsSeen, asm.DWord),
		asm.Add.Imm(asm.R1, 1),
		asm.StoreMem(asm.R6, runsSeen, asm.R1, asm.DWord),
	), leave()...)
}

// findRuns makes R6 point to the CPU's value of runsMap.
func findRuns() asm.Instructions {
	return asm.Instructions{
		asm.StoreImm(asm.RFP, -4, 0, asm.Word),
		asm.LoadMapPtr(asm.R1, 0).WithReference(runsMap),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, -4),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "leave"),
		asm.Mov.Reg(asm.R6, asm.R0),
	}
}

// readEvent reads an event of the CPU into memory at an offset from a register.
// It leaves if the event is not counted there.
func readEvent(event int, base asm.Register, offset int) asm.Instructions {
	const currentCPU = 0xffffffff // BPF_F_CURRENT_CPU
	return asm.Instructions{
		asm.LoadMapPtr(asm.R1, 0).WithReference(eventsMap(event)),
		asm.LoadImm(asm.R2, currentCPU, asm.DWord),
		asm.Mov.Reg(asm.R3, base),
		asm.Add.Imm(asm.R3, int32(offset)),
		asm.Mov.Imm(asm.R4, readingSize),
		asm.FnPerfEventReadValue.Call(),
		asm.JNE.Imm(asm.R0, 0, "leave"),
	}
}

func leave() asm.Instructions {
	return asm.Instructions{
		asm.Mov.Imm(asm.R0, 0).WithSymbol("leave"),
		asm.Return(),
	}
}
