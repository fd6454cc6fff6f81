package plan

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/workload/builtin"
	"github.com/org/ebpf-bench-action/runner/internal/hook"
)

var commandKind = Kind{
	check:    checkCommand,
	prepare:  prepareCommand,
	Alike:    func(j *Job) string { return fmt.Sprintf("command %+v", *j.Command) },
	InOthers: func(*Job) bool { return true },
	neverRan: "nothing that the load does calls the hook: choose another by load, a system call by syscall, or a command by run",
}

// Hook returns the hook that the job's program is attached to.
func (j *Job) Hook() (*hook.Hook, error) {
	return hook.Parse(cmp.Or(j.Command.Attach, j.ProgramSpec().SectionName))
}

func checkCommand(j *Job) error {
	if !hook.IsTracing(j.ProgramSpec().Type) {
		return errors.New("command drives tracing programs")
	}
	// A hook that cannot be read is not the type's fault.
	if h, err := j.Hook(); err == nil {
		return h.Takes(j.ProgramSpec().Type)
	}
	return nil
}

// checkLoad refuses a load that cannot trigger the hook.
func checkLoad(c *bench.Command, h *hook.Hook) error {
	switch {
	case h.Reads() && (c.Run != nil || c.Load != "" || c.Syscall != ""):
		return errors.New("an iterator is run by reading it: it takes neither run nor load")
	case h.InUser && c.Run == nil:
		return errors.New("only a command calls code in user space: say which by run, such as run: [/usr/bin/true]")
	case c.Syscall != "":
		return builtin.CheckSyscall(c.Syscall)
	}
	return nil
}

// prepareCommand fills in what the suite leaves to the hook, and aims the
// program at the hook.
func prepareCommand(j *Job, s *suite.Suite) error {
	h, err := j.Hook()
	if err != nil {
		return err
	}
	if err := checkLoad(j.Command, h); err != nil {
		return err
	}
	b, c := *j.Benchmark, *j.Command
	b.Command, j.Benchmark = &c, &b
	if c.Attach, err = h.Locate(s.LocalFile); err != nil {
		return err
	}
	if len(c.Run) > 0 && hook.IsLocal(c.Run[0]) {
		path, err := s.LocalFile(c.Run[0])
		if err != nil {
			return fmt.Errorf("run: %w", err)
		}
		c.Run = append([]string{path}, c.Run[1:]...)
	}
	setLoad(&c, h)
	return h.Aim(j.ProgramSpec())
}

// setLoad chooses a load if the suite gives none.
func setLoad(c *bench.Command, h *hook.Hook) {
	switch {
	case h.Reads():
		c.Count = cmp.Or(c.Count, 1)
		return
	case c.Run != nil:
		return
	case c.Syscall != "":
		c.Load = bench.LoadSyscalls
	case c.Load == "":
		c.Load, c.Syscall = hook.LoadOf(h)
	}
	switch c.Load {
	case bench.LoadSyscalls:
		c.Syscall = cmp.Or(c.Syscall, "getppid")
		c.Count = cmp.Or(c.Count, 1000)
	case bench.LoadForks:
		c.Count = cmp.Or(c.Count, 20)
	case bench.LoadMixture:
		c.Count = cmp.Or(c.Count, 10)
	default:
		c.Count = cmp.Or(c.Count, 1000)
	}
}
