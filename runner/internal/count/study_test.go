package count

import (
	"slices"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/pmu"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
	"github.com/org/ebpf-bench-action/runner/internal/plan/plantest"
	"github.com/org/ebpf-bench-action/runner/internal/subject"
)

// Offsets of struct __sk_buff.
const (
	skQueue, skMark, skPriority, skTcIndex, skCB4, skTcClassid, skTstamp = 12, 8, 32, 44, 64, 72, 152
)

// once returns early if a field of the context is set, and sets it.
func once(field int16, size asm.Size) asm.Instructions {
	return asm.Instructions{
		asm.LoadMem(asm.R2, asm.R1, field, size),
		asm.Mov.Imm(asm.R0, 0),
		asm.JNE.Imm(asm.R2, 0, "out"),
		asm.Mov.Imm(asm.R2, 7),
		asm.StoreMem(asm.R1, field, asm.R2, size),
		asm.Mov.Imm(asm.R3, 1), asm.Mov.Imm(asm.R3, 2), asm.Mov.Imm(asm.R3, 3),
		asm.Return().WithSymbol("out"),
	}
}

// marksLater marks each run from so many on, and returns early if the run before it left
// the mark.
func marksLater(from int32) asm.Instructions {
	return slices.Concat(asm.Instructions{
		asm.LoadMem(asm.R2, asm.R1, skMark, asm.Word),
		asm.JEq.Imm(asm.R2, 7, "out"),
		asm.Mov.Reg(asm.R6, asm.R1),
		asm.LoadMapValue(asm.R7, 0, 0).WithReference("state"),
		asm.LoadMem(asm.R2, asm.R7, 0, asm.DWord), asm.Add.Imm(asm.R2, 1), asm.StoreMem(asm.R7, 0, asm.R2, asm.DWord),
		asm.JLT.Imm(asm.R2, from, "out"),
		asm.StoreImm(asm.R6, skMark, 7, asm.Word),
		asm.Mov.Imm(asm.R0, 0).WithSymbol("out"),
	}, asm.Instructions{asm.Return()})
}

// marksRarely marks one of so many runs, a power of two.
func marksRarely(of int32) asm.Instructions {
	return asm.Instructions{
		asm.LoadMapValue(asm.R7, 0, 0).WithReference("state"),
		asm.LoadMem(asm.R2, asm.R7, 0, asm.DWord), asm.Add.Imm(asm.R2, 1), asm.StoreMem(asm.R7, 0, asm.R2, asm.DWord),
		asm.And.Imm(asm.R2, of-1),
		asm.JNE.Imm(asm.R2, 0, "out"),
		asm.StoreImm(asm.R1, skMark, 7, asm.Word),
		asm.Mov.Imm(asm.R0, 0).WithSymbol("out"),
		asm.Return(),
	}
}

// always sets a field of the context.
func always(field int16) asm.Instructions {
	return asm.Instructions{asm.Mov.Imm(asm.R2, 7), asm.StoreMem(asm.R1, field, asm.R2, asm.Word), asm.Mov.Imm(asm.R0, 0), asm.Return()}
}

// increment increments a field of the context.
func increment(field int16) asm.Instructions {
	return asm.Instructions{
		asm.LoadMem(asm.R2, asm.R1, field, asm.Word), asm.Add.Imm(asm.R2, 1), asm.StoreMem(asm.R1, field, asm.R2, asm.Word),
		asm.Mov.Imm(asm.R0, 0), asm.Return(),
	}
}

// edit stores into a packet, whose start and end are at offsets of the context,
// what it finds there plus a number, or the number.
func edit(data, end int16, add bool) asm.Instructions {
	with := asm.Mov.Imm(asm.R5, 7)
	if add {
		with = asm.Add.Imm(asm.R5, 7)
	}
	return asm.Instructions{
		asm.LoadMem(asm.R2, asm.R1, data, asm.Word),
		asm.LoadMem(asm.R3, asm.R1, end, asm.Word),
		asm.Mov.Reg(asm.R4, asm.R2),
		asm.Add.Imm(asm.R4, 20),
		asm.JGT.Reg(asm.R4, asm.R3, "out"),
		asm.LoadMem(asm.R5, asm.R2, 19, asm.Byte),
		with,
		asm.StoreMem(asm.R2, 19, asm.R5, asm.Byte),
		asm.Mov.Imm(asm.R0, 2).WithSymbol("out"),
		asm.Return(),
	}
}

// calls calls a helper with its context and numbers, and ignores what it says.
func calls(helper asm.BuiltinFunc, args ...int32) asm.Instructions {
	var insns asm.Instructions
	for i, arg := range args {
		insns = append(insns, asm.Mov.Imm(asm.R2+asm.Register(i), arg))
	}
	return append(insns, helper.Call(), asm.Mov.Imm(asm.R0, 0), asm.Return())
}

// byChance executes more in each second run.
var byChance = asm.Instructions{
	asm.FnGetPrandomU32.Call(), asm.And.Imm(asm.R0, 1), asm.JEq.Imm(asm.R0, 0, "out"), asm.Mov.Imm(asm.R3, 1), asm.Mov.Imm(asm.R3, 2),
	asm.Return().WithSymbol("out"),
}

// sums marks its packet and sums 64 bytes, or, of one that is marked, 4, by as many
// instructions; or 4 of each.
func sums(marked bool) asm.Instructions {
	insns := asm.Instructions{asm.Mov.Imm(asm.R6, 1)}
	if marked {
		insns = asm.Instructions{asm.LoadMem(asm.R6, asm.R1, skMark, asm.Word), asm.And.Imm(asm.R6, 1)}
	}
	insns = append(insns, asm.Mov.Imm(asm.R0, 1), asm.StoreMem(asm.R1, skMark, asm.R0, asm.Word))
	for at := int16(-64); at < 0; at += 8 {
		insns = append(insns, asm.StoreMem(asm.R10, at, asm.R0, asm.DWord))
	}
	insns = append(insns, asm.Mov.Reg(asm.R1, asm.R10), asm.Add.Imm(asm.R1, -64))
	if marked {
		insns = append(insns, asm.Mov.Reg(asm.R2, asm.R6), asm.Xor.Imm(asm.R2, 1), asm.Mul.Imm(asm.R2, 60), asm.Add.Imm(asm.R2, 4))
	} else {
		insns = append(insns, asm.Mov.Imm(asm.R2, 4))
	}
	return append(insns,
		asm.Mov.Imm(asm.R3, 0), asm.Mov.Imm(asm.R4, 0), asm.Mov.Imm(asm.R5, 0), asm.FnCsumDiff.Call(),
		asm.Mov.Imm(asm.R0, 0), asm.Return())
}

// byTime executes more if there was a while since the last run.
var byTime = asm.Instructions{
	asm.FnKtimeGetNs.Call(),
	asm.LoadMapValue(asm.R7, 0, 0).WithReference("state"),
	asm.LoadMem(asm.R2, asm.R7, 0, asm.DWord), asm.StoreMem(asm.R7, 0, asm.R0, asm.DWord),
	asm.Sub.Reg(asm.R0, asm.R2),
	asm.JLT.Imm(asm.R0, 400, "out"),
	asm.Mov.Imm(asm.R3, 1), asm.Mov.Imm(asm.R3, 2),
	asm.Mov.Imm(asm.R0, 0).WithSymbol("out"),
	asm.Return(),
}

// Whether a run depends on what the run before it in the same call left of its
// input does not depend on what it left in maps, nor on chance.
func TestRunsThatDependOnTheirInput(t *testing.T) {
	testenv.Root(t)
	xdp := func(insns asm.Instructions) *ebpf.ProgramSpec {
		return &ebpf.ProgramSpec{Type: ebpf.XDP, Instructions: insns}
	}
	of := func(typ ebpf.ProgramType, insns asm.Instructions) *ebpf.ProgramSpec {
		return &ebpf.ProgramSpec{Type: typ, Instructions: insns}
	}
	two := []bench.Packet{{Hex: strings.Repeat("00", 18)}, {Hex: strings.Repeat("00", 64)}}
	limit, third, rare := xdp(counting(1<<30, 40)), xdp(counting(3*64, 40)), xdp(counting(2*64, 40))
	for name, c := range map[string]struct {
		program *ebpf.ProgramSpec
		run     bench.TestRun
		want    string
	}{
		"xdp, reads":                  {xdp(plantest.Returns(2)), bench.TestRun{}, ""},
		"xdp, edits":                  {xdp(edit(0, 4, true)), bench.TestRun{}, driver.OnPacket},
		"xdp, edits one of two":       {xdp(edit(0, 4, true)), bench.TestRun{Packets: two}, driver.OnPacket},
		"xdp, edits, one run":         {xdp(edit(0, 4, true)), bench.TestRun{Repeat: 1}, ""},
		"xdp, edits to the same":      {xdp(edit(0, 4, false)), bench.TestRun{}, ""},
		"xdp, longer":                 {xdp(calls(asm.FnXdpAdjustHead, -20)), bench.TestRun{}, driver.OnPacket},
		"xdp, much longer":            {xdp(calls(asm.FnXdpAdjustTail, 1000)), bench.TestRun{}, driver.OnPacket},
		"xdp, metadata":               {xdp(calls(asm.FnXdpAdjustMeta, -4)), bench.TestRun{}, driver.OnPacket},
		"xdp, shorter":                {xdp(calls(asm.FnXdpAdjustTail, -1)), bench.TestRun{Repeat: 20}, driver.OnPacket},
		"xdp, the first run of a map": {limit, bench.TestRun{}, ""},
		"xdp, each 128th run":         {rare, bench.TestRun{}, ""},
		"xdp, each 192nd run":         {third, bench.TestRun{}, ""},
		"xdp, by chance":              {xdp(byChance), bench.TestRun{}, ""},
		"tc, edits":                   {of(ebpf.SchedCLS, edit(76, 80, true)), bench.TestRun{}, driver.OnPacket},
		"tc, vlan":                    {of(ebpf.SchedCLS, calls(asm.FnSkbVlanPush, 0x0081, 5)), bench.TestRun{}, driver.OnPacket},
		"tc, marks":                   {of(ebpf.SchedCLS, always(skMark)), bench.TestRun{}, ""},
		"tc, once by mark":            {of(ebpf.SchedCLS, once(skMark, asm.Word)), bench.TestRun{}, driver.OnEither},
		"tc, once by priority":        {of(ebpf.SchedCLS, once(skPriority, asm.Word)), bench.TestRun{}, driver.OnEither},
		"tc, once by cb":              {of(ebpf.SchedCLS, once(skCB4, asm.Word)), bench.TestRun{}, driver.OnEither},
		"tc, once by tc_index":        {of(ebpf.SchedCLS, once(skTcIndex, asm.Word)), bench.TestRun{}, driver.OnEither},
		"tc, once by tc_classid":      {of(ebpf.SchedCLS, once(skTcClassid, asm.Word)), bench.TestRun{}, driver.OnEither},
		"tc, once by queue_mapping":   {of(ebpf.SchedCLS, once(skQueue, asm.Word)), bench.TestRun{}, driver.OnEither},
		"tc, once by tstamp":          {of(ebpf.SchedCLS, once(skTstamp, asm.DWord)), bench.TestRun{}, driver.OnEither},
		"tc, sums another size":       {of(ebpf.SchedCLS, sums(true)), bench.TestRun{}, driver.OnContext},
		"tc, sums the same":           {of(ebpf.SchedCLS, sums(false)), bench.TestRun{}, ""},
		"tc, by time":                 {of(ebpf.SchedCLS, byTime), bench.TestRun{}, ""},
		"tc, counts in mark":          {of(ebpf.SchedCLS, increment(skMark)), bench.TestRun{}, driver.OnContext},
		"cgroup_skb, once by mark":    {of(ebpf.CGroupSKB, once(skMark, asm.Word)), bench.TestRun{}, driver.OnEither},
		"socket_filter, once by cb":   {of(ebpf.SocketFilter, once(skCB4, asm.Word)), bench.TestRun{}, driver.OnEither},
		"lwt_xmit, once by cb":        {of(ebpf.LWTXmit, once(skCB4, asm.Word)), bench.TestRun{}, driver.OnEither},
		"lwt_xmit, longer":            {of(ebpf.LWTXmit, calls(asm.FnSkbChangeHead, 20, 0)), bench.TestRun{}, driver.OnPacket},
		"tc, marks after a while":     {of(ebpf.SchedCLS, marksLater(9000)), bench.TestRun{}, driver.OnEither},
		"tc, marks rarely":            {of(ebpf.SchedCLS, marksRarely(1<<12)), bench.TestRun{}, driver.OnContext},
		"flow_dissector":              {of(ebpf.FlowDissector, plantest.Returns(0)), bench.TestRun{}, ""},
		"all CPUs":                    {of(ebpf.SchedCLS, once(skMark, asm.Word)), bench.TestRun{}, driver.OnEither},
	} {
		t.Run(name, func(t *testing.T) {
			b := bench.Benchmark{TestRun: &c.run, Parallel: name == "all CPUs"}
			job := plantest.Job(t, c.program.Copy(), b)
			if slices.ContainsFunc(c.program.Instructions, func(i asm.Instruction) bool { return i.Reference() == "state" }) {
				job.Spec.Maps["state"] = &ebpf.MapSpec{Name: "state", Type: ebpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: 1}
			}
			if got := Study(t.Context(), job)[0].Fresh; got != c.want {
				t.Errorf("runs depend on %q, want %q", got, c.want)
			}
		})
	}
}

// If runs of one side depend on their input, those of both are measured alike, and
// each has the input of the suite.
func TestFreshRuns(t *testing.T) {
	testenv.Root(t)
	// The runs that find no mark count themselves.
	insns := slices.Concat(asm.Instructions{asm.Mov.Reg(asm.R6, asm.R1)}, asm.Instructions{
		asm.LoadMem(asm.R2, asm.R6, skMark, asm.Word),
		asm.JNE.Imm(asm.R2, 0, "out"),
		asm.StoreImm(asm.R6, skMark, 7, asm.Word),
		asm.LoadMapValue(asm.R1, 0, 0).WithReference("unmarked"),
		asm.Mov.Imm(asm.R2, 1),
		asm.StoreXAdd(asm.R1, asm.R2, asm.DWord),
	}, asm.Instructions{asm.Mov.Imm(asm.R0, 0).WithSymbol("out"), asm.Return()})
	marks := plantest.Job(t, &ebpf.ProgramSpec{Type: ebpf.SchedCLS, Instructions: insns}, bench.Benchmark{TestRun: &bench.TestRun{Repeat: 300}})
	marks.Spec.Maps["unmarked"] = &ebpf.MapSpec{Name: "unmarked", Type: ebpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: 1}
	reads := plantest.Job(t, &ebpf.ProgramSpec{Type: ebpf.SchedCLS, Instructions: plantest.Returns(0)}, bench.Benchmark{TestRun: &bench.TestRun{Repeat: 300}})
	fresh := Study(t.Context(), nil, reads, marks)
	if fresh[0] != nil || fresh[1].Fresh == "" || fresh[2].Fresh == "" || reads.Fresh != "" || marks.Fresh != "" {
		t.Fatalf("reads %q, marks %q", fresh[1].Fresh, fresh[2].Fresh)
	}
	unmarked := func(j *plan.Job) (n uint64) {
		t.Helper()
		env := &driver.Environment{Counters: &pmu.Counters{}}
		defer env.Close()
		s, err := subject.Open(t.Context(), env, j)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if err := s.Drive(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.Coll.Maps["unmarked"].Lookup(uint32(0), &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := unmarked(fresh[2]); n != 300 {
		t.Errorf("%d of 300 fresh runs found no mark", n)
	}
	// Where slices find maps as they were, they have many runs.
	queue := plantest.Job(t, &ebpf.ProgramSpec{Type: ebpf.SchedCLS, Instructions: slices.Concat(asm.Instructions{
		asm.Mov.Reg(asm.R6, asm.R1),
		asm.Mov.Imm(asm.R2, 1), asm.StoreMem(asm.RFP, -8, asm.R2, asm.DWord),
		asm.LoadMapPtr(asm.R1, 0).WithReference("queue"),
		asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, -8), asm.Mov.Imm(asm.R3, 0), asm.FnMapPushElem.Call(),
		asm.Mov.Reg(asm.R1, asm.R6),
	}, once(skMark, asm.Word))}, bench.Benchmark{TestRun: &bench.TestRun{Repeat: 300}})
	queue.Spec.Maps["queue"] = &ebpf.MapSpec{Name: "queue", Type: ebpf.Queue, ValueSize: 8, MaxEntries: 1000}
	if e := Explain(t.Context(), plan.PairJob{Head: queue}, false); e.Error != "" || e.Head.PerRun != 18 || e.Head.Runs < 300 {
		t.Errorf("%s: a fresh run executes %+v, want 18 instructions", e.Error, e.Head)
	}
	if n := unmarked(marks); n >= 300 {
		t.Errorf("%d of 300 runs that share calls found no mark", n)
	}
}
