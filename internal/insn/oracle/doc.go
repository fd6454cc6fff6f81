// Package oracle interprets BPF bytecode and counts how often each instruction
// is executed. It shares no code with the instrumenter, so that two ways of
// counting that agree are evidence.
//
// It knows what the kernel does with an XDP program or one of socket buffers
// in BPF_PROG_TEST_RUN: instructions, maps, helpers that need no more than the
// packet. It knows no verifier: a program that the kernel would refuse ends in
// an error, and whatever it does not know in one that names it.
package oracle
