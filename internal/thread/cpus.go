// Package thread manages threads of this process: a thread that ends with a
// function, and the measuring thread, which stays on a CPU, waits, and holds
// signals back.
package thread

import "golang.org/x/sys/unix"

// Allowed returns the CPUs that the calling thread may use.
func Allowed() ([]int, error) {
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		return nil, err
	}
	var cpus []int
	for cpu := range len(allowed) * 64 {
		if allowed.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}

// Pin keeps the calling thread on the last CPU that it may use: CPU 0 serves
// most interrupts, and a thread that moves pays for cold caches. It returns all
// CPUs that the thread could use before.
func Pin() ([]int, error) {
	cpus, err := Allowed()
	if err != nil {
		return nil, err
	}
	return cpus, PinTo(cpus[len(cpus)-1])
}

// PinTo keeps the calling thread on a CPU.
func PinTo(cpu int) error {
	var one unix.CPUSet
	one.Set(cpu)
	return unix.SchedSetaffinity(0, &one)
}
