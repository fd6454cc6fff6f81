package load

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/object"
	"github.com/org/ebpf-bench-action/runner/internal/host"
)

// answerKsyms makes instructions that load the address of a typed variable of
// the kernel (__ksym) refer to the kernel's type of it, by which the verifier
// knows what it is. Those that may be missing, and are, load zero.
func answerKsyms(spec *ebpf.CollectionSpec) error {
	for _, p := range spec.Programs {
		for i := range p.Instructions {
			ins := &p.Instructions[i]
			wanted, ok := object.LoadsTypedKsym(ins)
			if !ok {
				continue
			}
			id, err := kernelVariable(wanted.Name)
			switch {
			case err == nil:
				ins.Src, ins.Constant = unix.BPF_PSEUDO_BTF_ID, int64(id)
			case !wanted.Weak || !errors.Is(err, errNoVariable):
				return bench.WithHint(&classed{classLacks, fmt.Errorf("it refers to %s (__ksym): %w", wanted.Name, err)}, hintWeak)
			}
		}
	}
	return nil
}

// hintWeak is for what a kernel may lack.
const hintWeak = "declare it __weak where it may be missing: it is zero then"

var errNoVariable = errors.New("this kernel has no variable of that name with a type")

// kernelVariable returns the ID of the type of a variable of the kernel itself.
// It needs Linux 5.10 or newer.
func kernelVariable(name string) (btf.TypeID, error) {
	kernel, err := host.Types.Kernel()
	if err != nil {
		return 0, err
	}
	var v *btf.Var
	if err := kernel.TypeByName(name, &v); err != nil {
		if errors.Is(err, btf.ErrNotFound) {
			err = errNoVariable
		}
		return 0, err
	}
	return kernel.TypeID(v)
}
