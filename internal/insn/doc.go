// Package insn counts the BPF instructions that a program executes: exactly,
// in the running kernel, without hardware counters. It rewrites bytecode before
// it is loaded, so that every basic block bumps a counter in a map; what a block
// was executed times its length is what it cost.
//
// The counters cost time themselves, so an instrumented program is for counting
// and never for timing. What it does is the same: it returns the same values
// and writes the same data, because a counter uses only registers and stack
// that the program does not.
//
// It works wherever the direct access to map values does (Linux 5.2), for every
// type of program, before CO-RE relocation. The kernel verifies what it made
// like any other program.
//
// The package knows nothing of how a program is loaded, attached or driven.
package insn
