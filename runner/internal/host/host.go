// Package host knows what the running kernel has and lacks: its types, and what keeps
// programs from being run on it in a way, whatever the program is.
package host

import (
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/features"
)

// Types are the types of this kernel, which take longer to decode than most
// programs to load.
var Types = btf.NewCache()

// cookies are from Linux 5.15 on.
const cookies = 5<<16 | 15<<8

// HaveCookies reports whether this kernel has cookies.
func HaveCookies() bool {
	version, err := features.LinuxVersionCode()
	return err == nil && version >= cookies
}

// CannotError says that this kernel does not run programs the way that a driver
// does, whatever the program is.
type CannotError struct{ error }

func (e *CannotError) Unwrap() error { return e.error }

// Cannot marks an error as one of the kernel's.
func Cannot(err error) error { return &CannotError{err} }

// reworded is an error that is told in other words.
type reworded struct {
	text string
	err  error
}

func (r *reworded) Error() string { return r.text }
func (r *reworded) Unwrap() error { return r.err }

// Reword tells err in other words.
func Reword(err error, text string) error { return &reworded{text, err} }
