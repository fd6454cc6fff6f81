// Package insntest is what tests compare the counts of package insn with: it interprets
// BPF bytecode and counts how often each instruction is executed. It shares no code with
// the instrumenter, so that agreement between the two is evidence.
//
// It implements what BPF_PROG_TEST_RUN does with XDP and socket buffer
// programs: instructions, maps, and helpers that need only the packet. It has
// no verifier: a program that the kernel would refuse ends in an error, and an
// unknown feature in an error that names it.
package insntest
