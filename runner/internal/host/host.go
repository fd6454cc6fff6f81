// Package host knows what the running kernel has and lacks: its types, and what
// prevents a way of running programs on it, whatever the program is.
package host

import (
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/features"
)

// Types caches the types of this kernel, which take longer to decode than most
// programs take to load.
var Types = btf.NewCache()

// cookies is the first release with cookies, Linux 5.15.
const cookies = 5<<16 | 15<<8

// HaveCookies reports whether this kernel has cookies.
func HaveCookies() bool {
	version, err := features.LinuxVersionCode()
	return err == nil && version >= cookies
}

// CannotError says that this kernel cannot run programs in the way of a driver,
// whatever the program is.
type CannotError struct{ error }

func (e *CannotError) Unwrap() error { return e.error }

// Cannot marks err as a limitation of the kernel.
func Cannot(err error) error { return &CannotError{err} }

// reworded is an error with another text.
type reworded struct {
	text string
	err  error
}

func (r *reworded) Error() string { return r.text }
func (r *reworded) Unwrap() error { return r.err }

// Reword returns an error that wraps err and has another text.
func Reword(err error, text string) error { return &reworded{text, err} }
