// Package symbol turns addresses of processes and of the kernel into functions, files,
// lines and inlined calls, as addr2line -i -f -C does.
//
//	Binary   an executable, a shared object or the vdso: DWARF, the table of Go, or symbols
//	PerfMap  what a just-in-time compiler wrote down of its functions
//	Kernel   the kernel, its modules and BPF programs
//
// The files are those of strangers, and processes change while they are read. What is
// malformed, missing or too large gives fewer frames, never an endless loop; what is read and
// what is made of it takes of a budget.
package symbol

import (
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// Frame is a function at an address, or one that calls it. Inlined functions come
// first, the one that they were inlined in last.
type Frame struct {
	// Func is the demangled name, empty if unknown.
	Func string
	// File is the path as the compiler wrote it, empty if unknown.
	File string
	// Line is 0 if unknown, or if the code is of no line.
	Line int
	// Inlined says that the next frame is of the function that this one was inlined in.
	Inlined bool
}

const (
	// maxMangled bounds the names that are demangled, in bytes.
	maxMangled = 8 << 10
	// maxDemangled bounds what they become: two to this power, in bytes.
	maxDemangled = 16
)

// demangled returns the name as in the source, of C++ and Rust. Other names stay as
// they are, but for the version of a symbol.
func demangled(name string) string {
	name, _, _ = strings.Cut(name, "@@")
	if !isMangled(name) || len(name) > maxMangled {
		return name
	}
	return demangle.Filter(name, demangle.MaxLength(maxDemangled))
}

func isMangled(name string) bool {
	return strings.HasPrefix(name, "_Z") || strings.HasPrefix(name, "_R") || strings.HasPrefix(name, "__Z")
}
