package explain

import (
	"fmt"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// executes returns what a side executes of a line with this many instructions,
// each equally often.
func executes(instructions int, perRun float64) *bench.Executed {
	e := &bench.Executed{PerRun: perRun, Instructions: instructions, Times: perRun / float64(instructions)}
	machine := 1
	for i := range instructions {
		e.Code = append(e.Code, bench.Code{Offset: 20 + i, Text: fmt.Sprintf("r%d += 1", i%5), PerRun: perRun / float64(instructions), Machine: &machine})
	}
	return e
}

// calling makes it call a helper.
func calling(e *bench.Executed) *bench.Executed {
	e.Calls = []string{"bpf_map_lookup_elem"}
	return e
}

func fibonacciTestbed() bench.Testbed {
	return bench.Testbed{Mode: bench.ModeHost, Kernel: "6.12.1", CPU: "AMD EPYC", Cores: 2, Virtual: "kvm", JIT: "on"}
}

func fibonacciLine(number, offset int, text string, base, head *bench.Executed) bench.Line {
	return bench.Line{
		Program: "fun_xdp_fibonacci", Function: "fun_xdp_fibonacci", File: "fun_xdp.c", Number: number, Offset: offset,
		Text: text, Base: base, Head: head,
	}
}

// slowLines are the lines of a program that looks a number up by two loops, as
// base, and by a table, as head; with one side, only the loops.
func slowLines(two bool) []bench.Line {
	lines := []bench.Line{
		fibonacciLine(62, 0, "\tvoid *data_end = (void *)(long)ctx->data_end;", executes(1, 1), executes(1, 1)),
		fibonacciLine(68, 2, "\tif ((void *)(eth + 1) > data_end)", executes(3, 3), executes(3, 3)),
		fibonacciLine(69, 5, "\t\treturn XDP_ABORTED;", executes(1, 0), executes(1, 0)),
		fibonacciLine(71, 6, "\t\treturn XDP_PASS;", executes(1, 0), executes(1, 0)),
		fibonacciLine(73, 7, "\t\treturn XDP_ABORTED;", executes(1, 0), executes(1, 0)),
		fibonacciLine(109, 12, "\tfor (__u32 i = 0; i < n; i++) {", executes(4, 427.5), nil),
		fibonacciLine(110, 16, "\t\t__u32 next = a + b;", executes(3, 312.75), nil),
		fibonacciLine(126, 22, "\t} while (fibonacci < n);", executes(2, 28.3333333), nil),
		fibonacciLine(135, 24, "\treturn n < sizeof(fibonacci) && fibonacci[n];", nil, executes(5, 4.75)),
		{Program: "fun_xdp_fibonacci", Function: "count", File: "fun_xdp.c", Number: 82, Offset: 60, Text: "\tpackets = bpf_map_lookup_elem(&sources, &saddr);", Base: calling(executes(4, 4)), Head: calling(executes(4, 4))},
		{Program: "fun_xdp_fibonacci", Function: "count", File: "fun_xdp.c", Number: 90, Offset: 70, Text: "\t\t__sync_fetch_and_add(packets, 1);", Base: executes(2, 2), Head: executes(3, 2.25)},
	}
	if two {
		return lines
	}
	var one []bench.Line
	for _, l := range lines {
		if l.Base != nil {
			l.Head, l.Base = l.Base, nil
			one = append(one, l)
		}
	}
	return one
}

func fibonacciSide(program string, perRun float64) *bench.ExplainedSide {
	return &bench.ExplainedSide{Object: "fun_xdp.o", Program: program, Type: "xdp", Runs: 4, Executed: bench.Executed{PerRun: perRun, Instructions: 80}}
}

// oneSided explains one build.
func oneSided() *bench.Explanation {
	return &bench.Explanation{
		Tool: "v1.2.3", Testbed: fibonacciTestbed(), Started: time.Unix(1_700_000_000, 0).UTC(), Head: bench.Side{Name: "ebpf-bench.yml"},
		Programs: []bench.Explained{
			{Benchmark: "xdp/fibonacci_slow", Driver: "test_run", Head: fibonacciSide("fun_xdp_fibonacci", 778.583333), Lines: slowLines(false)},
			{
				Benchmark: "xdp/stripped", Driver: "veth",
				Head: &bench.ExplainedSide{Object: "stripped.o", Program: "stripped", Runs: 1, Executed: bench.Executed{PerRun: 22, Instructions: 22}},
				Lines: []bench.Line{
					{Program: "stripped", Function: "stripped", Head: executes(20, 20)},
					{Program: "tail", Function: "tail", Offset: 0, Head: executes(2, 2)},
				},
				Warnings: []string{"the object has no debug information"},
			},
			{Benchmark: "xdp/refused", Driver: "test_run", Error: "the verifier refuses program x: invalid access"},
		},
	}
}

// twoSided explains two builds: one benchmark changed, one did not, and one is
// only in the base.
func twoSided() *bench.Explanation {
	same := []bench.Line{fibonacciLine(62, 0, "\tvoid *data_end;", executes(1, 1), executes(1, 1))}
	gone := []bench.Line{fibonacciLine(62, 0, "\tvoid *data_end;", executes(1, 1), nil)}
	e := oneSided()
	e.Base, e.Head = &bench.Side{Name: "baseline:main", Commit: "0123456789abcdef", Branch: "main"}, bench.Side{Name: "build/"}
	e.Programs = []bench.Explained{
		{
			Benchmark: "xdp/fibonacci", Driver: "test_run", Lines: slowLines(true),
			Base: fibonacciSide("fun_xdp_fibonacci_slow", 778.583333), Head: fibonacciSide("fun_xdp_fibonacci", 15),
		},
		{Benchmark: "xdp/same", Driver: "test_run", Lines: same, Base: fibonacciSide("same", 1), Head: fibonacciSide("same", 1)},
		{Benchmark: "xdp/gone", Driver: "test_run", Lines: gone, Base: fibonacciSide("gone", 1)},
	}
	return e
}

// chanceExplained compares a program that depends on chance with itself: lines
// in which runs differ, that only the first run reaches, that are reached in
// part, and one that changed in a renamed file.
func chanceExplained() *bench.Explanation {
	e := twoSided()
	spread := func(x *bench.Executed, least, most float64) *bench.Executed {
		x.Spread = &bench.Spread{Least: least, Most: most}
		return x
	}
	first, moved := executes(2, 0), executes(2, 1)
	first.FirstOnly, moved.Times = true, 0
	failed := func() *bench.Executed {
		x := executes(4, 4)
		x.Notes = []string{"the tail call failed: index 2 of jumps is empty"}
		return x
	}
	changed := fibonacciLine(12, 4, "\tfor (int i = 0; i < (n & 15); i++)", executes(4, 8), executes(4, 12))
	changed.BaseNumber, changed.BaseFile, changed.BaseText = 10, "src/old.c", "\tfor (int i = 0; i < (n & 7); i++)"
	side := func(perRun, least, most float64) *bench.ExplainedSide {
		s := fibonacciSide("drop", perRun)
		spread(&s.Executed, least, most)
		return s
	}
	e.Programs = []bench.Explained{{
		Benchmark: "xdp/chance", Driver: "test_run", Base: side(225, 25, 425), Head: side(193, 29, 429),
		Lines: []bench.Line{
			changed,
			fibonacciLine(14, 8, "\t\theavy();", spread(executes(4, 200), 0, 400), spread(executes(4, 164), 0, 400)),
			fibonacciLine(20, 12, "\t++*drops;", moved, moved),
			fibonacciLine(21, 14, "\tbpf_map_update_elem(&seen, &key, &one, BPF_ANY);", first, first),
			fibonacciLine(22, 16, "\tbpf_tail_call(ctx, &jumps, 2);", failed(), failed()),
		},
	}}
	return e
}

// hostileExplanation has an attack in every text.
func hostileExplanation(attack string) *bench.Explanation {
	e := twoSided()
	e.Tool, e.Testbed.Kernel, e.Testbed.CPU, e.Base.Name, e.Base.Commit, e.Head.Name = attack, attack, attack, attack, attack, attack
	for i := range e.Programs {
		p := &e.Programs[i]
		p.Benchmark, p.Driver, p.Warnings = fmt.Sprint(i, attack), attack, []string{attack}
		for _, s := range []*bench.ExplainedSide{p.Base, p.Head} {
			if s != nil {
				s.Object, s.Program, s.Type = attack, attack, attack
			}
		}
		for j := range p.Lines {
			l := &p.Lines[j]
			l.Program, l.Function, l.File, l.Text, l.BaseFile, l.BaseText = attack, attack, attack, attack, attack, attack
			for _, x := range []*bench.Executed{l.Base, l.Head} {
				if x != nil {
					x.Calls, x.Notes = []string{attack}, []string{attack}
					for k := range x.Code {
						x.Code[k].Text = attack
					}
				}
			}
		}
	}
	e.Programs = append(e.Programs, bench.Explained{Benchmark: attack, Error: attack, Hint: attack, Log: attack})
	return e
}

// manyExplained has so many lines that not all of them are listed.
func manyExplained() *bench.Explanation {
	e := oneSided()
	p := &e.Programs[0]
	p.Lines, p.Head.PerRun = nil, 0
	for i := range 200 {
		n := 1000.0
		if i >= 60 {
			n = 0.5
		}
		p.Lines = append(p.Lines, fibonacciLine(10+2*i, i, fmt.Sprintf("x += %d;", i), nil, executes(1, n)))
		p.Head.PerRun += n
	}
	e.Programs = e.Programs[:1]
	return e
}
