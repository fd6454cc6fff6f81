// Package sections holds, in one object, a program for each section name that
// gives an object's program a type. It shows which of them can be measured on a
// kernel. No kernel takes all of them, so load them one by one.
package sections

//go:generate go tool bpf2go -tags linux -cc clang-14 -strip llvm-strip-14 -target bpfel -output-stem sections bpf sections.c -- -Wall -Werror
