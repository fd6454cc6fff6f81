package runner

import (
	"errors"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/runner/internal/load"
)

// The error suspects the program itself if it decides what its load may do.
func TestAVerdictThatStopsItsOwnLoad(t *testing.T) {
	stopped, refused := errors.New("start a process: operation not permitted"), load.Lacking(errors.New("refused"))
	calling := func(helper asm.BuiltinFunc) asm.Instructions {
		return asm.Instructions{asm.Mov.Imm(asm.R0, 0), helper.Call(), asm.Return()}
	}
	for name, c := range map[string]struct {
		program ebpf.ProgramSpec
		driver  bench.Benchmark
		err     error
		hint    string
	}{
		"lsm":                {ebpf.ProgramSpec{Type: ebpf.LSM}, bench.Benchmark{Command: &bench.Command{}}, stopped, "verdict"},
		"fmod_ret":           {ebpf.ProgramSpec{Type: ebpf.Tracing, AttachType: ebpf.AttachModifyReturn}, bench.Benchmark{Command: &bench.Command{}}, stopped, "verdict"},
		"override":           {ebpf.ProgramSpec{Type: ebpf.Kprobe, Instructions: calling(asm.FnOverrideReturn)}, bench.Benchmark{Command: &bench.Command{}}, stopped, "verdict"},
		"signal":             {ebpf.ProgramSpec{Type: ebpf.TracePoint, Instructions: calling(asm.FnSendSignal)}, bench.Benchmark{Command: &bench.Command{}}, stopped, "signals"},
		"signal of a thread": {ebpf.ProgramSpec{Type: ebpf.TracePoint, Instructions: calling(asm.FnSendSignalThread)}, bench.Benchmark{Command: &bench.Command{}}, stopped, "signals"},
		"only watches":       {ebpf.ProgramSpec{Type: ebpf.TracePoint, Instructions: calling(asm.FnKtimeGetNs)}, bench.Benchmark{Command: &bench.Command{}}, stopped, ""},
		"not loaded":         {ebpf.ProgramSpec{Type: ebpf.LSM}, bench.Benchmark{Command: &bench.Command{}}, refused, ""},
		"only loaded":        {ebpf.ProgramSpec{Type: ebpf.LSM}, bench.Benchmark{Verify: &bench.Verify{}}, stopped, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c.driver.Program = "p"
			j := &Job{Benchmark: &c.driver, Spec: &ebpf.CollectionSpec{Programs: map[string]*ebpf.ProgramSpec{"p": &c.program}}}
			if hint := verdictHint(j, c.err); !strings.Contains(hint, c.hint) || (hint == "") != (c.hint == "") {
				t.Errorf("hint %q, want one about %q", hint, c.hint)
			}
		})
	}
}
