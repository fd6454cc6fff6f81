package fleet

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/kernel"
	"github.com/org/ebpf-bench-action/internal/probe"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/internal/vm"
)

// DefaultTimeout is how long a virtual machine may run unless told otherwise.
const DefaultTimeout = 5 * time.Minute

// DefaultKernel is the kernel of virtual machines if none is named. It is the same on every
// machine, so that counts are: a series with long-term support, which both Debian's archive
// and the releases of this tool have.
const DefaultKernel = "6.12"

// Machines say which kernels run in virtual machines, and how.
type Machines struct {
	Kernels []string
	// Mode is exact, kvm or off. Empty means exact if a kernel is named. Under kvm a machine
	// runs on the processor, if that works; otherwise its instructions are counted.
	Mode    string
	Cache   string        // the folder of kernels, as for kernel.OpenCache
	Timeout time.Duration // per machine; 0 is none
	Memory  int           // per machine, in MiB; 0 is enough for most suites
}

// Check refuses a mode that contradicts the kernels.
func (m *Machines) Check() error {
	if m.Mode == "off" && len(m.Kernels) > 0 {
		return fmt.Errorf("--vm off and --kernel %s cannot be combined", strings.Join(m.Kernels, ","))
	}
	return nil
}

// Choose returns the kernels to run in virtual machines, none for this host: those that
// are named here, or else in the suite. A mode alone selects the default kernel, in that
// mode.
func (m *Machines) Choose(inSuite []string) []string {
	switch {
	case m.Mode == "off":
		return nil
	case len(m.Kernels) > 0:
		return unit.Unique(m.Kernels)
	case m.ByDefault(inSuite):
		return []string{DefaultKernel}
	}
	return inSuite
}

// ByDefault reports whether a virtual machine runs a kernel that neither the flags nor the
// suite name.
func (m *Machines) ByDefault(inSuite []string) bool {
	return m.Mode != "" && m.Mode != "off" && len(m.Kernels) == 0 && len(inSuite) == 0
}

// Open opens a fleet for these kernels. It finds the errors that can be found before the
// first one boots.
func (m *Machines) Open(w Watch, kernels []string) (*Fleet, error) {
	cache, err := kernel.OpenCache(m.Cache)
	if err != nil {
		return nil, err
	}
	cache.Progress = w.Downloads()
	if err := CanEmulate(runtime.GOARCH); err != nil {
		return nil, exit.Usage(err)
	}
	var errs []error
	for _, name := range kernels {
		if err := cache.Check(name); errors.Is(err, kernel.ErrUnknown) {
			errs = append(errs, exit.Usage(OnKernel(name, err)))
		}
	}
	if m.Timeout < 0 {
		errs = append(errs, exit.Usage(errors.New("--vm-timeout must not be negative; 0 means no limit")))
	}
	if m.Memory < 0 {
		errs = append(errs, exit.Usage(errors.New("--vm-memory must be a number of MiB from 1 on")))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	f := &Fleet{machines: *m, cache: cache, watch: w}
	if m.Mode == "kvm" {
		f.mode = vm.KVM
		// Check KVM now rather than wait for a machine that never boots.
		if err := probe.NoKVM(); err != nil {
			f.withoutKVM(fmt.Errorf("%w: %w", vm.ErrKVM, err))
		}
	}
	return f, nil
}

// ParseKernels reads a list of kernels that are separated by commas. It refuses an empty
// name, which comes from an unset variable and hardly means this host.
func ParseKernels(list string) (names []string, err error) {
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name == "" {
			return nil, errors.New("a kernel has no name")
		}
		names = append(names, name)
	}
	return names, nil
}
