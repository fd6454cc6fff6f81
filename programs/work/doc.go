// Package work holds a program of which every run takes a set number of steps,
// each as long as the other. Two loads of it with different numbers differ by
// a known amount of work, which is what a gate can be tested by.
package work

//go:generate go tool bpf2go -tags linux -cc clang-14 -strip llvm-strip-14 -target bpfel -output-stem work bpf work.c -- -Wall -Werror
