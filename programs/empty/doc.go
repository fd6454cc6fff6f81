// Package empty holds an empty program of each type that can be measured, in
// one object.
//
// The cost of an empty program is the floor under every measurement: the cost
// of measuring itself. The programs are named empty_ and their type as bpftool
// spells it, such as empty_xdp or empty_sched_cls. A kernel need not support
// every type, so load them one by one.
package empty

//go:generate go tool bpf2go -tags linux -cc clang-14 -strip llvm-strip-14 -target bpfel -output-stem empty bpf empty.c -- -Wall -Werror
