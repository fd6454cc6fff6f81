package count

import (
	"slices"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
	"github.com/org/ebpf-bench-action/runner/internal/plan/plantest"
)

// filling returns a program that puts a new key into a map until there is no
// room, and then executes this many instructions.
func filling(dear int) asm.Instructions {
	insns := asm.Instructions{
		asm.LoadMapValue(asm.R6, 0, 0).WithReference("state"),
		asm.LoadMem(asm.R7, asm.R6, 0, asm.Word), asm.StoreMem(asm.RFP, -4, asm.R7, asm.Word),
		asm.LoadMapPtr(asm.R1, 0).WithReference("flows"),
		asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, -4), asm.Mov.Reg(asm.R3, asm.R2), asm.Mov.Imm(asm.R4, 0),
		asm.FnMapUpdateElem.Call(),
		asm.JNE.Imm(asm.R0, 0, "full"),
		asm.Add.Imm(asm.R7, 1), asm.StoreMem(asm.R6, 0, asm.R7, asm.Word),
		asm.Mov.Imm(asm.R0, 2), asm.Return(),
		asm.Mov.Imm(asm.R0, 1).WithSymbol("full"),
	}
	for range dear {
		insns = append(insns, asm.Mov.Imm(asm.R0, 1))
	}
	return append(insns, asm.Return())
}

// How many runs precede the measured ones depends on what runs may leave to others,
// and not on time.
func TestSettling(t *testing.T) {
	testenv.Root(t)
	maps := func(j *plan.Job, entries uint32) *plan.Job {
		j.Spec.Maps["flows"] = &ebpf.MapSpec{Name: "flows", Type: ebpf.Hash, KeySize: 4, ValueSize: 4, MaxEntries: entries}
		j.Spec.Maps["state"] = &ebpf.MapSpec{Name: "state", Type: ebpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: 1}
		return j
	}
	const run, veth = "test_run: {packets: [{ipv4: {}, udp: {}}]}", "veth: {packets: [{ipv4: {}, udp: {}}]}"
	fresh := slices.Concat(edit(0, 4, true)[:9], counting(2, 1))
	slow := counting(2, 30_000)
	for name, c := range map[string]struct {
		job  *plan.Job
		want int
	}{
		"nothing":            {plantest.Made(t, run, plantest.Returns(2)), 0},
		"a counter":          {maps(plantest.Made(t, run, counting(2, 1)), 1), 1 << 13},
		"a small map":        {maps(plantest.Made(t, run, filling(1)), 100), 1 << 13},
		"a large map":        {maps(plantest.Made(t, run, filling(1)), 20_000), 1 << 15},
		"a larger map":       {maps(plantest.Made(t, run, filling(1)), 1<<20), 1 << 17},
		"calls of their own": {maps(plantest.Made(t, run, fresh), 1), 1 << 11},
		"slow":               {maps(plantest.Made(t, run, slow), 1), (1 << 25) / 30_009},
		"veth":               {maps(plantest.Made(t, veth, filling(1)), 1<<20), 1 << 11},
	} {
		if got := Study(t.Context(), c.job)[0]; got.Settle != c.want {
			t.Errorf("%s: %d runs (fresh: %q), want %d", name, got.Settle, got.Fresh, c.want)
		}
	}
}

// What only the first messages make a program do is the cost of the first run, and of no
// other.
func TestFirstMessages(t *testing.T) {
	testenv.Plain(t)
	const dear, unless = 100, 2
	insns := asm.Instructions{
		asm.LoadMapValue(asm.R1, 0, 0).WithReference("state"),
		asm.LoadMem(asm.R2, asm.R1, 0, asm.DWord),
		asm.JGE.Imm(asm.R2, 3, "out"),
		asm.Add.Imm(asm.R2, 1), asm.StoreMem(asm.R1, 0, asm.R2, asm.DWord),
	}
	for range dear {
		insns = append(insns, asm.Mov.Imm(asm.R0, 1))
	}
	insns = append(insns, asm.Mov.Imm(asm.R0, 1).WithSymbol("out"), asm.Return())
	p := &ebpf.ProgramSpec{Type: ebpf.CGroupSockAddr, AttachType: ebpf.AttachCGroupInet4Connect, Instructions: insns}
	job := plantest.Job(t, p, bench.Benchmark{Cgroup: &bench.Exchange{Protocol: bench.ProtocolUDP, Count: 100, Size: 64}})
	job.Spec.Maps["state"] = &ebpf.MapSpec{Name: "state", Type: ebpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: 1}
	job = Study(t.Context(), job)[0]
	e, err := Count(t.Context(), job, nil, Like{})
	if err != nil {
		t.Fatal(err)
	}
	first := e.Opening()
	if later := e.Sample().Values; len(later) != 1 || first == nil || !slices.Equal(first.Values, []float64{later[0] + dear + unless}) {
		t.Errorf("later runs %v, the first %+v", later, first)
	}
}

// Counted runs find maps as full as measured runs do.
func TestCountedRunsFindMapsAsFull(t *testing.T) {
	testenv.Root(t)
	const adds, finds = 14, 10 + 1 + 100 + 1
	for _, c := range []struct {
		name    string
		entries uint32
		prep    bench.MapPrep
		like    Like
		want    float64
	}{
		{"full", 3000, bench.MapPrep{}, Like{}, finds},
		{"full later", 30_000, bench.MapPrep{}, Like{}, finds},
		{"never full", 3_000_000, bench.MapPrep{}, Like{}, adds},
		{"reset after few runs", 3000, bench.MapPrep{Reset: bench.ResetSlice}, Like{Slice: 10}, adds},
		{"reset when half are full", 10, bench.MapPrep{Reset: bench.ResetSlice}, Like{Slice: 20}, (adds + finds) / 2},
	} {
		job := plantest.Made(t, "test_run: {packets: [{ipv4: {}, udp: {}}]}", filling(100))
		state := bench.MapPrep{Reset: c.prep.Reset}
		job.Maps = map[string]bench.MapPrep{"flows": c.prep, "state": state}
		job.Spec.Maps["flows"] = &ebpf.MapSpec{Name: "flows", Type: ebpf.Hash, KeySize: 4, ValueSize: 4, MaxEntries: c.entries}
		job.Spec.Maps["state"] = &ebpf.MapSpec{Name: "state", Type: ebpf.Array, KeySize: 4, ValueSize: 4, MaxEntries: 1}
		job = Study(t.Context(), job)[0]
		e, err := Count(t.Context(), job, nil, c.like)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if s := e.Sample(); len(s.Values) != 1 || s.Values[0] != c.want {
			t.Errorf("%s: %v, want %v", c.name, s.Values, c.want)
		}
	}
}

// What only few runs do is part of the mean, and what runs do after very many others is a
// figure of its own.
func TestLaterRuns(t *testing.T) {
	testenv.Root(t)
	const dear = 100
	counter := func(after ...asm.Instruction) asm.Instructions {
		insns := asm.Instructions{
			asm.LoadMapValue(asm.R6, 0, 0).WithReference("state"),
			asm.LoadMem(asm.R7, asm.R6, 0, asm.DWord), asm.Add.Imm(asm.R7, 1), asm.StoreMem(asm.R6, 0, asm.R7, asm.DWord),
		}
		insns = append(insns, after...)
		for range dear {
			insns = append(insns, asm.Mov.Imm(asm.R0, 1))
		}
		return append(insns, asm.Mov.Imm(asm.R0, 2).WithSymbol("out"), asm.Return())
	}
	for name, c := range map[string]struct {
		insns asm.Instructions
		kinds int
		from  float64 // the mean
		to    float64
		aged  []float64
	}{
		"in every run":           {counter(), 0, 106, 106, nil},
		"in none":                {counter(asm.JLT.Imm(asm.R7, 1<<30, "out")), 0, 7, 7, nil},
		"in every 1000th":        {counter(asm.Mod.Imm(asm.R7, 1000), asm.JNE.Imm(asm.R7, 999, "out")), 2, 8.09, 8.11, nil},
		"after 20,000":           {counter(asm.JLT.Imm(asm.R7, 20_000, "out")), 0, 7, 7, []float64{107}},
		"up to 20,000":           {counter(asm.JGT.Imm(asm.R7, 20_000, "out")), 0, 107, 107, []float64{7}},
		"after 200,000":          {counter(asm.JLT.Imm(asm.R7, 200_000, "out")), 0, 7, 7, nil},
		"now and then by chance": {counter(asm.FnGetPrandomU32.Call(), asm.And.Imm(asm.R0, 63), asm.JNE.Imm(asm.R0, 0, "out")), 2, 9.2, 12, nil},
	} {
		job := plantest.Made(t, "test_run: {packets: [{ipv4: {}, udp: {}}]}", c.insns)
		job.Spec.Maps["state"] = &ebpf.MapSpec{Name: "state", Type: ebpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: 1}
		job = Study(t.Context(), job)[0]
		e, err := Count(t.Context(), job, nil, Like{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		s := e.Sample().Values
		if mean := s[len(s)/2]; mean < c.from || mean > c.to || len(e.Kinds()) != c.kinds {
			t.Errorf("%s: mean of %v, kinds %v, want from %v to %v", name, s, e.Kinds(), c.from, c.to)
		}
		aged := e.Aged()
		if (aged == nil) != (c.aged == nil) || aged != nil && !slices.Equal(aged.Values, c.aged) || (aged == nil) != (e.AgedWarning() == "") {
			t.Errorf("%s: aged %+v, want %v; %q", name, aged, c.aged, e.AgedWarning())
		}
	}
}
