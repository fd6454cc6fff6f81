//go:build linux

package empty

import (
	"errors"
	"fmt"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/features"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

func TestLoads(t *testing.T) {
	testenv.Root(t)

	spec, err := loadBpf()
	if err != nil {
		t.Fatal(err)
	}
	for name, prog := range spec.Programs {
		t.Run(name, func(t *testing.T) {
			err := features.HaveProgramType(prog.Type)
			if errors.Is(err, ebpf.ErrNotSupported) {
				testenv.Missing(t, fmt.Sprintf("programs of type %s in this kernel", prog.Type))
			}
			if err != nil {
				t.Fatal(err)
			}
			loaded, err := ebpf.NewProgram(prog)
			if err != nil {
				t.Fatalf("%+v", err)
			}
			loaded.Close()
		})
	}
}

func TestVerdicts(t *testing.T) {
	testenv.Root(t)

	spec, err := loadBpf()
	if err != nil {
		t.Fatal(err)
	}
	const (
		xdpPass     = 2
		tcActUnspec = 1<<32 - 1
		wholePacket = 1<<32 - 1
		cgroupAllow = 1
	)
	for name, want := range map[string]uint32{
		bpfProgEmptyXdp:          xdpPass,
		bpfProgEmptySchedCls:     tcActUnspec,
		bpfProgEmptySocketFilter: wholePacket,
		bpfProgEmptyCgroupSkb:    cgroupAllow,
	} {
		t.Run(name, func(t *testing.T) {
			prog, err := ebpf.NewProgram(spec.Programs[name])
			if err != nil {
				t.Fatal(err)
			}
			defer prog.Close()

			if got, _, err := prog.Test(make([]byte, 64)); err != nil {
				t.Error(err)
			} else if got != want {
				t.Errorf("got verdict %d, want %d", got, want)
			}
		})
	}
}

// The programs contain nothing but the way in and out.
func TestProgramsAreEmpty(t *testing.T) {
	spec, err := loadBpf()
	if err != nil {
		t.Fatal(err)
	}
	for name, prog := range spec.Programs {
		const setVerdictAndExit = 2
		if n := len(prog.Instructions); n != setVerdictAndExit {
			t.Errorf("%s has %d instructions", name, n)
		}
	}
}
