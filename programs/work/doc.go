// Package work holds a program that takes a set number of equally long steps in
// every run. Two loads with different numbers differ by a known amount of work,
// so they can test a gate.
package work

//go:generate go tool bpf2go -tags linux -cc clang-14 -strip llvm-strip-14 -target bpfel -output-stem work bpf work.c -- -Wall -Werror
