package runner

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/features"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/object"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/runner/internal/driver/testrun"
	"github.com/org/ebpf-bench-action/runner/internal/progrun"
)

func TestEveryTypeIsRun(t *testing.T) {
	for typ := range progrun.Types {
		t.Run(object.TypeName(typ), func(t *testing.T) {
			p := &ebpf.ProgramSpec{Type: typ, Instructions: returns(0)}
			switch typ {
			case ebpf.Tracing:
				testenv.Probe(t, "fentry")
				p.AttachType, p.AttachTo = ebpf.AttachTraceFEntry, "bpf_fentry_test1"
			case ebpf.SkLookup:
				p.AttachType = ebpf.AttachSkLookup
			case ebpf.Netfilter:
				p.AttachType = ebpf.AttachNetfilter
			case ebpf.CGroupSKB:
				p.AttachType = ebpf.AttachCGroupInetIngress
			case ebpf.Syscall:
				p.Flags = 1 << 4 // BPF_F_SLEEPABLE
			}
			r := measureJob(t, resolved(t, p, bench.Benchmark{TestRun: &bench.TestRun{}}))
			if errors.Is(features.HaveProgramType(typ), ebpf.ErrNotSupported) {
				if r.Error == "" {
					t.Error("a program of a type that the kernel does not have is measured")
				}
				t.Skipf("the kernel has no programs of type %s", object.TypeName(typ))
			}
			if strings.Contains(r.Error, "cannot test_run") && !hasRun(t, typ) {
				t.Skipf("%s: %s", r.Error, r.Hint)
			}
			if r.Error != "" {
				t.Fatalf("%s (%s)", r.Error, r.Hint)
			}
			for _, name := range []string{"latency", "latency-floor", "bpf-insns"} {
				if s := r.Sample(name); s == nil || len(s.Values) == 0 {
					t.Errorf("no %s: %q", name, r.Warnings)
				}
			}
			for _, runs := range r.Rounds.RunCnt {
				if n := map[bool]uint64{true: testrun.OnceRepeat, false: testrun.ManyRepeat}[progrun.Types[typ].Once]; runs < n || runs%n != 0 || runs != r.Rounds.RunCnt[0] {
					t.Errorf("%d runs in a round, want %d in the first and some times %d", runs, r.Rounds.RunCnt[0], n)
				}
			}
		})
	}
}

// hasRun reports whether this kernel should be able to run programs of type
// typ.
func hasRun(t *testing.T, typ ebpf.ProgramType) bool {
	t.Helper()
	have, err := features.LinuxVersionCode()
	if err != nil {
		t.Fatal(err)
	}
	code := func(version string) uint32 {
		var major, minor uint32
		if _, err := fmt.Sscanf(version, "%d.%d", &major, &minor); err != nil {
			t.Fatalf("version %q: %v", version, err)
		}
		return major<<16 | minor<<8
	}
	have &^= 0xff
	of := progrun.Types[typ]
	return have >= code(of.Since) && (of.Until == "" || have <= code(of.Until))
}

// measureJob measures a single job, in few rounds.
func measureJob(t *testing.T, j *Job) *bench.Result {
	t.Helper()
	testenv.Root(t)
	run, err := Measure(context.Background(), &Plan{Jobs: []*Job{j}}, Options{Rounds: 8, Loads: 2, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return &run.Results[0]
}

// A program is called with the context of the suite.
func TestContexts(t *testing.T) {
	tcp := func(port uint16) bench.Packet { return bench.Packet{IPv4: &bench.IP{}, TCP: &bench.TCP{Dst: port}} }
	lookup := func(offset int16) *ebpf.ProgramSpec {
		// Only one bit survives, because the kernel takes no other verdicts.
		return &ebpf.ProgramSpec{Type: ebpf.SkLookup, AttachType: ebpf.AttachSkLookup, Instructions: asm.Instructions{
			asm.LoadMem(asm.R0, asm.R1, offset, asm.Word), asm.And.Imm(asm.R0, 1), asm.Return(),
		}}
	}
	const localPort, protocol, family = 60, 12, 8
	for name, c := range map[string]struct {
		program *ebpf.ProgramSpec
		run     bench.TestRun
		want    []uint32
	}{
		"arguments":      {&ebpf.ProgramSpec{Type: ebpf.RawTracepoint, Instructions: loads(8, asm.DWord)}, bench.TestRun{Context: &bench.Context{Args: []uint64{5, 7}}}, []uint32{7}},
		"no arguments":   {&ebpf.ProgramSpec{Type: ebpf.RawTracepoint, Instructions: loads(88, asm.DWord)}, bench.TestRun{}, []uint32{0}},
		"hex":            {&ebpf.ProgramSpec{Type: ebpf.Syscall, Flags: 1 << 4, Instructions: loads(4, asm.Word)}, bench.TestRun{Context: &bench.Context{Hex: "00000000 09000000"}}, []uint32{9}},
		"a large one":    {&ebpf.ProgramSpec{Type: ebpf.Syscall, Flags: 1 << 4, Instructions: loads(6000, asm.Word)}, bench.TestRun{Context: &bench.Context{Hex: "01", Size: 6004}}, []uint32{0}},
		"mark":           {&ebpf.ProgramSpec{Type: ebpf.SchedCLS, Instructions: loads(8, asm.Word)}, bench.TestRun{Context: &bench.Context{Hex: "0000000000000000 2a000000"}}, []uint32{42}},
		"port":           {lookup(localPort), bench.TestRun{Packets: []bench.Packet{tcp(443), tcp(80)}}, []uint32{1, 0}},
		"tcp":            {lookup(protocol), bench.TestRun{}, []uint32{0}},
		"udp":            {lookup(protocol), bench.TestRun{Packets: []bench.Packet{{IPv4: &bench.IP{}, UDP: &bench.UDP{}}}}, []uint32{1}},
		"lookup by hex":  {lookup(localPort), bench.TestRun{Context: &bench.Context{Hex: strings.Repeat("00", 8) + "02000000 06000000" + strings.Repeat("00", 44) + "bb01"}}, []uint32{1}},
		"packet of IPv6": {lookup(family), bench.TestRun{Packets: []bench.Packet{{IPv6: &bench.IP{}, TCP: &bench.TCP{}}}}, []uint32{0}},
	} {
		t.Run(name, func(t *testing.T) {
			r := measureJob(t, resolved(t, c.program, bench.Benchmark{TestRun: &c.run}))
			if errors.Is(features.HaveProgramType(c.program.Type), ebpf.ErrNotSupported) || strings.Contains(r.Error, "not supported") {
				t.Skip("this kernel does not run the type: " + r.Error)
			}
			if r.Error != "" {
				t.Fatalf("%s (%s)", r.Error, r.Hint)
			}
			if got := slices.Sorted(maps.Keys(r.Retvals)); !slices.Equal(got, slices.Sorted(slices.Values(c.want))) {
				t.Errorf("returned %v, want %v", got, c.want)
			}
		})
	}
}

// Inputs that cannot be run are refused before anything is measured.
func TestInputsThatAreRefused(t *testing.T) {
	fentry := &ebpf.ProgramSpec{Type: ebpf.Tracing, AttachTo: "vfs_read", Instructions: returns(0)}
	test1 := &ebpf.ProgramSpec{Type: ebpf.Tracing, AttachTo: "bpf_fentry_test1", Instructions: returns(0)}
	of := func(typ ebpf.ProgramType) *ebpf.ProgramSpec {
		return &ebpf.ProgramSpec{Type: typ, Instructions: returns(0)}
	}
	packet := func(hex string) bench.TestRun { return bench.TestRun{Packets: []bench.Packet{{Hex: hex}}} }
	for _, c := range []struct {
		name    string
		program *ebpf.ProgramSpec
		run     bench.TestRun
		want    string
	}{
		{"a type that is not run", of(ebpf.Kprobe), bench.TestRun{}, "program program is of type kprobe: test_run drives programs of the types cgroup_skb, flow_dissector,"},
		{"writable", of(ebpf.RawTracepointWritable), bench.TestRun{}, "test_run drives programs of the types"},
		{"any function", fentry, bench.TestRun{}, "this one traces vfs_read: drive it by command"},
		{"arguments of a test function", test1, bench.TestRun{Context: &bench.Context{Size: 8}}, "no context to give"},
		{"packets for a tracepoint", of(ebpf.RawTracepoint), packet("00"), "no packets, but a context"},
		{"many arguments", of(ebpf.RawTracepoint), bench.TestRun{Context: &bench.Context{Size: 104}}, "104 bytes, more than the 96"},
		{"short frame", of(ebpf.SchedCLS), packet("0011"), "fewer than the 14"},
		{"no IP for netfilter", of(ebpf.Netfilter), packet(strings.Repeat("00", 64)), "packet 1: a netfilter program takes packets of IPv4 and IPv6"},
		{"half an IP for netfilter", of(ebpf.Netfilter), packet(strings.Repeat("00", 12) + "86dd" + strings.Repeat("00", 20)), "whole IP header"},
		{"no IP for a lookup", of(ebpf.SkLookup), packet(strings.Repeat("00", 64)), "packet 1: it is neither IPv4 nor IPv6"},
		{"bad hex", of(ebpf.Syscall), bench.TestRun{Context: &bench.Context{Hex: "0"}}, "context: read hex"},
		{"more than the size", of(ebpf.Syscall), bench.TestRun{Context: &bench.Context{Hex: "0000", Size: 1}}, "2 bytes, more than its size of 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := tryJob(c.program, bench.Benchmark{TestRun: &c.run})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

// The kernel decides what only it knows, and its EINVAL gets an explanation.
func TestRefusalsOfTheKernel(t *testing.T) {
	for name, c := range map[string]struct {
		typ  ebpf.ProgramType
		run  bench.TestRun
		want string
	}{
		"length of an skb": {ebpf.SchedCLS, bench.TestRun{Context: &bench.Context{Hex: "01000000"}}, "struct __sk_buff the kernel takes mark"},
		"metadata":         {ebpf.XDP, bench.TestRun{Context: &bench.Context{Hex: "03000000"}}, "a multiple of 4"},
		"huge packet":      {ebpf.SchedCLS, bench.TestRun{Packets: []bench.Packet{{Hex: strings.Repeat("00", 1<<20)}}}, "no more than a page has room for"},
		"huge flow":        {ebpf.FlowDissector, bench.TestRun{Packets: []bench.Packet{{Hex: strings.Repeat("00", 1<<20)}}}, "no more than a page has room for"},
	} {
		t.Run(name, func(t *testing.T) {
			r := measureJob(t, resolved(t, &ebpf.ProgramSpec{Type: c.typ, Instructions: returns(0)}, bench.Benchmark{TestRun: &c.run}))
			if r.Error == "" || !strings.Contains(r.Hint, c.want) {
				t.Errorf("error %q with the hint %q, want %q", r.Error, r.Hint, c.want)
			}
		})
	}
}

func TestDefaultsOfTypes(t *testing.T) {
	for _, c := range []struct {
		program *ebpf.ProgramSpec
		b       bench.Benchmark
		want    string
	}{
		{&ebpf.ProgramSpec{Type: ebpf.XDP}, bench.Benchmark{}, "test_run of 2000 on 1"},
		{&ebpf.ProgramSpec{Type: ebpf.XDP}, bench.Benchmark{Parallel: true}, "test_run of 20000 on 1"},
		{&ebpf.ProgramSpec{Type: ebpf.XDP}, bench.Benchmark{TestRun: &bench.TestRun{Repeat: 5}, Parallel: true}, "test_run of 5 on 1"},
		{&ebpf.ProgramSpec{Type: ebpf.Syscall}, bench.Benchmark{}, "test_run of 200 on 0"},
		{&ebpf.ProgramSpec{Type: ebpf.RawTracepoint}, bench.Benchmark{TestRun: &bench.TestRun{}}, "test_run of 200 on 0"},
		{&ebpf.ProgramSpec{Type: ebpf.Tracing, AttachTo: "bpf_fentry_test1"}, bench.Benchmark{}, "test_run of 200 on 0"},
		{&ebpf.ProgramSpec{Type: ebpf.Tracing, SectionName: "fentry/vfs_read", AttachTo: "vfs_read"}, bench.Benchmark{}, "command"},
		{&ebpf.ProgramSpec{Type: ebpf.RawTracepoint, SectionName: "raw_tp/sched_switch"}, bench.Benchmark{}, "command"},
		{&ebpf.ProgramSpec{Type: ebpf.SchedCLS}, bench.Benchmark{}, "test_run of 2000 on 1"},
		{&ebpf.ProgramSpec{Type: ebpf.XDP}, bench.Benchmark{Veth: &bench.Veth{}}, "veth native  20000"},
		{&ebpf.ProgramSpec{Type: ebpf.SchedCLS}, bench.Benchmark{Veth: &bench.Veth{}}, "veth tc ingress 2000"},
		{&ebpf.ProgramSpec{Type: ebpf.SchedCLS, AttachType: ebpf.AttachTCXEgress}, bench.Benchmark{Veth: &bench.Veth{}}, "veth tcx egress 2000"},
		{&ebpf.ProgramSpec{Type: ebpf.SchedCLS, AttachType: ebpf.AttachTCXEgress}, bench.Benchmark{Veth: &bench.Veth{Mode: bench.TC, Direction: bench.Ingress, Count: 7}}, "veth tc ingress 7"},
	} {
		c.program.Instructions = returns(0)
		j := resolved(t, c.program, c.b)
		got := j.Driver()
		switch {
		case j.TestRun != nil:
			got += fmt.Sprintf(" of %d on %d", j.TestRun.Repeat, len(j.Frames))
		case j.Veth != nil:
			got += fmt.Sprintf(" %s %s %d", j.Veth.Mode, j.Veth.Direction, j.Veth.Count)
		}
		if got != c.want {
			t.Errorf("%s: driven by %s, want %s", object.TypeName(c.program.Type), got, c.want)
		}
	}
}
