package insn

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cilium/ebpf/asm"
)

const log6 = `verification time 76 usec
stack depth 16+0+112
processed 40 insns (limit 1000000) max_states_per_insn 0 total_states 2 peak_states 2 mark_read 1
`

func TestStackDepths(t *testing.T) {
	for log, want := range map[string][]int{
		log6:                             {16, 0, 112},
		"stack depth 8":                  {8},
		"stack depth 8\r\n":              {8},
		"stack depth 8+16 max 32\n":      {8, 16},
		"stack depth 8\nstack depth 4\n": {4},
		"":                               nil,
		"the stack depth 8\n":            nil,
		"stack depth \n":                 nil,
		"stack depth 8+\n":               nil,
		"stack depth -8\n":               nil,
		"stack depth 99999999999\n":      nil,
	} {
		if got := StackDepths(log); !slices.Equal(got, want) {
			t.Errorf("stack depths of %q are %v, want %v", log, got, want)
		}
	}
}

func FuzzStackDepths(f *testing.F) {
	f.Add(log6)
	f.Add("stack depth 8+16 max 32\n")
	f.Add("stack depth +\n")
	f.Fuzz(func(t *testing.T, log string) {
		depths := StackDepths(log)
		var again []string
		for _, d := range depths {
			if d < 0 {
				t.Fatalf("depth %d of %q", d, log)
			}
			again = append(again, fmt.Sprint(d))
		}
		if depths != nil && !slices.Equal(StackDepths("stack depth "+strings.Join(again, "+")), depths) {
			t.Fatalf("%q is read as %v, and that is read otherwise", log, depths)
		}
	})
}

func TestVisibleDepth(t *testing.T) {
	for name, c := range map[string]struct {
		ins  asm.Instruction
		want int
	}{
		"store":                 {asm.StoreMem(asm.R10, -24, asm.R1, asm.DWord), 24},
		"store of a constant":   {asm.StoreImm(asm.R10, -8, 1, asm.Word), 8},
		"load":                  {asm.LoadMem(asm.R1, asm.R10, -16, asm.DWord), 16},
		"load-acquire":          {asm.LoadAcquire(asm.R1, asm.R10, asm.DWord, -32), 32},
		"address":               {asm.Add.Imm(asm.R1, -40), 40},
		"address by difference": {asm.Sub.Imm(asm.R1, 48), 48},
		"elsewhere":             {asm.LoadMem(asm.R1, asm.R2, -64, asm.DWord), 0},
		"no address":            {asm.Add.Imm(asm.R1, -4000), 0},
	} {
		if got := visibleDepth(asm.Instructions{c.ins}); got != c.want {
			t.Errorf("%s: %d bytes, want %d", name, got, c.want)
		}
	}
}

func TestSlots(t *testing.T) {
	for _, c := range []struct {
		depth, n int
		want     int16
	}{{0, 0, -8}, {1, 0, -16}, {16, 1, -32}, {500, 0, -512}} {
		if got, err := slot(c.depth, c.n); got != c.want || err != nil {
			t.Errorf("slot %d below %d bytes is %d (%v), want %d", c.n, c.depth, got, err, c.want)
		}
	}
	if _, err := slot(505, 0); !errors.Is(err, ErrStack) {
		t.Errorf("a slot beyond the stack: error %v", err)
	}
}

// The verifier drops dead functions before it reports the depths of the others,
// so any of them may be as deep as the deepest.
func TestDepthsOfWhatTheVerifierLeft(t *testing.T) {
	g := graphOf(t,
		asm.StoreMem(asm.R10, -24, asm.R1, asm.DWord).WithSymbol("main"),
		asm.Call.Label("dead"),
		asm.Return(),
		asm.Mov.Imm(asm.R0, 0).WithSymbol("dead"),
		asm.Return(),
	)
	for name, c := range map[string]struct{ verified, want []int }{
		"all functions":       {[]int{8, 40}, []int{24, 40}},
		"one function less":   {[]int{64}, []int{64, 64}},
		"nothing is verified": {nil, []int{24, 0}},
	} {
		if got := stackDepths(g, c.verified); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
