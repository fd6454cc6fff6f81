// Package insn counts the BPF instructions that a program executes: exactly, in
// the running kernel, without hardware counters. It rewrites bytecode before it
// is loaded, so that every basic block increments a counter in a map. A block's
// count times its length is its cost.
//
// The counters take time themselves, so an instrumented program is for
// counting, never for timing. Otherwise it behaves the same: it returns the
// same values and writes the same data, because a counter uses only registers
// and stack that the program does not.
//
// A program can also write down the keys of maps that it asks for, and what it compares,
// for a search for inputs that lead elsewhere; see Site.
//
// It works wherever map values can be accessed directly (Linux 5.2), for every
// type of program, before CO-RE relocation. The kernel verifies the result like
// any other program.
//
// The package does not deal with loading, attaching or driving programs.
package insn
