package insn

import (
	"testing"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/testenv"
)

// Instructions that the Fibonacci programs of programs/fun_xdp execute, counted
// by hand in the bytecode (llvm-objdump -d), for the address 10.0.0.n.
const (
	// Both programs: the packet is pushed or not, then XDP_PASS is returned.
	pushed    = 9 + 2 // store event and key, address, map, flags, call, test; r0 = 2, exit
	notPushed = 2     // r0 = 2, exit

	// Both programs: division by 15, then by 3, then by 5. Each is a test of
	// seven instructions; the last one saves a move of the dividend.
	fizzBuzz = 7 + pushed
	fizz     = 7 + 7 + pushed
	buzz     = 7 + 7 + 6 + pushed
	neither  = 7 + 7 + 6 + 1 + notPushed // and a jump

	// The slow program.
	parsed  = 13 + 6 // three checks; load, swap and mask the address, enter the loop
	zeroth  = 5 + 4  // i = 0 makes no number: shift, test; i++, shift, compare
	verdict = 2      // event = FIBONACCI, if it is one

	// The fast program: as above, then the table's address, load and test.
	looked = 13 + 9
)

// loops returns the cost of numbers 1 to m of the sequence in the slow program:
// 5 to test i, 4 to start, 11 for each sum, and number i takes i sums, and 4 as
// above.
func loops(m uint64) uint64 {
	var n uint64
	for i := uint64(1); i <= m; i++ {
		n += 5 + 4 + 11*i + 4
	}
	return n
}

func TestFibonacci(t *testing.T) {
	testenv.Probe(t, "test_run xdp")
	spec, err := ebpf.LoadCollectionSpec("../../programs/fun_xdp/fun_xdp_bpfel.o")
	if err != nil {
		t.Fatal(err)
	}
	const slow = parsed + zeroth + verdict
	for _, placement := range []Placement{Minimal, EveryBlock} {
		coll, table := instrumented(t, spec, Options{Placement: placement})
		for _, c := range []struct {
			n          byte
			slow, fast uint64
		}{
			// The sequence is 0 1 1 2 3 5 8 13 21 34 55 89 144 233 377; the
			// slow program ends at the first number that is not less than n.
			{0, slow + loops(0) + pushed, looked + pushed},
			{1, slow + loops(1) + pushed, looked + pushed},
			{2, slow + loops(3) + pushed, looked + pushed},
			{5, slow + loops(5) + pushed, looked + pushed},
			// The dividend is 0x0a000000 + n, and 0x0a000000 is 10 modulo 15.
			{10, slow + loops(7) + buzz, looked + buzz},
			{50, slow + loops(10) + fizzBuzz, looked + fizzBuzz},
			{90, slow + loops(12) + buzz, looked + buzz},
			{255, slow + loops(14) + buzz, looked + buzz},
		} {
			packet := make([]byte, 34)
			packet[12], packet[14] = 0x08, 0x45
			copy(packet[26:], []byte{10, 0, 0, c.n})
			for program, want := range map[string]uint64{"fun_xdp_fibonacci_slow": c.slow, "fun_xdp_fibonacci": c.fast} {
				counts, _, _ := counted(t, coll, table, program, packet)
				if got := counts.Executed(program); got != want {
					t.Errorf("%s of %d executes %d instructions, want %d", program, c.n, got, want)
				}
				if counts.Total() != counts.Executed(program) || counts.Runs(program) != 1 {
					t.Errorf("%s of %d: %d runs, %d instructions in all programs", program, c.n, counts.Runs(program), counts.Total())
				}
			}
		}
	}
}
