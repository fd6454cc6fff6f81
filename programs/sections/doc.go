// Package sections holds a program for each section name by which objects say
// what type a program is of, in one object: what shows which of them can be
// measured on a kernel. They are to be loaded one by one, for no kernel takes
// all of them.
package sections

//go:generate go tool bpf2go -tags linux -cc clang-14 -strip llvm-strip-14 -target bpfel -output-stem sections bpf sections.c -- -Wall -Werror
