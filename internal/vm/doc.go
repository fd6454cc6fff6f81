// Package vm runs a command on another kernel, in a virtual machine. Its API
// resembles [os/exec.Cmd].
//
// The guest runs this very binary: as its first process, which mounts file
// systems, loads modules and reports, and as the command, which is the same
// binary with arguments. A main function must call [Main] first. Neither QEMU
// nor the guest outlives this process, however it ends, and nothing is ever
// written to a disk.
//
// The package knows QEMU, the boot of a kernel, and how both fail. It knows
// nothing about benchmarks, nor where kernels come from.
package vm
