// Package vm runs a command on another kernel, in a virtual machine of its
// own, shaped like [os/exec.Cmd].
//
// The guest is this very binary: it is the first process of the guest, which
// mounts, loads modules and reports, and the command too, which is that
// binary with arguments. A main function calls [Main] first. Neither QEMU nor
// the guest outlives this process, however it ends, and nothing is ever
// written to a disk.
//
// The package knows QEMU, the boot of a kernel, and how both fail. It knows
// nothing of benchmarks, nor of where kernels come from.
package vm
