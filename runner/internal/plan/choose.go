package plan

import (
	"strings"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/object"
)

// NotRun is the start of the warning that says why a program is only loaded.
const NotRun = "not run: "

// ChooseDriver gives a job without a driver the default of its program's type.
// If nothing here can run the program, it is only loaded, for the figures of
// the verifier and the JIT, with the reason as a warning.
func (j *Job) ChooseDriver() {
	if j.Driver() != "" {
		return
	}
	driver, why := j.defaultDriver()
	b := *j.Benchmark
	j.Chosen = true
	b.SetDriver(driver)
	b.SetDriverDefaults()
	j.Benchmark = &b
	if why != "" {
		j.Warnings = append(j.Warnings, NotRun+why)
	}
}

// NotRun returns why nothing runs the program of a job without a driver of its
// own, or "" if something does.
func (j *Job) NotRun() string {
	for _, w := range j.Warnings {
		if why, ok := strings.CutPrefix(w, NotRun); ok {
			return why
		}
	}
	return ""
}

// defaultDriver returns the first driver that takes the job's program by default and,
// if that only loads it, why nothing runs it.
func (j *Job) defaultDriver() (name, why string) {
	for _, name := range bench.Drivers() {
		if k := kinds[name]; k != nil && k.Default != nil {
			takes, why := k.Default(j)
			if takes {
				return name, ""
			}
			if why != "" {
				return bench.DriverVerify, why
			}
		}
	}
	return bench.DriverVerify, whyNotRun(j.ProgramSpec())
}

func whyNotRun(p *ebpf.ProgramSpec) string {
	switch p.Type {
	case ebpf.StructOps:
		return "a struct_ops program runs when the kernel uses what it implements, such as a scheduler or a congestion control"
	case ebpf.Extension:
		return "a freplace program is measured with the program whose function it replaces: name it by replace in a benchmark of that one"
	case ebpf.LircMode2:
		return "a lirc_mode2 program runs on a remote control's signals"
	}
	return "nothing here drives programs of type " + object.TypeName(p.Type)
}
