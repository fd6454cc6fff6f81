package subject

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"

	"github.com/org/ebpf-bench-action/internal/object"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
	"github.com/org/ebpf-bench-action/runner/internal/hook"
)

// Beside drives one slice and returns the programs of others that it ran about as
// often as the subject's, or more often: what each event ran beside it, such as
// those that another tool attached to the same hook. Those that are certainly on
// another one are left out. Statistics must be on.
func (s *Subject) Beside(ctx context.Context) (names []string, err error) {
	own := map[ebpf.ProgramID]bool{}
	for _, p := range s.Coll.Programs {
		if info, err := p.Info(); err == nil {
			if id, ok := info.ID(); ok {
				own[id] = true
			}
		}
	}
	before, err := runsOfOthers(own)
	if err != nil {
		return nil, err
	}
	mine, err := driver.ReadCounters(s.Program)
	if err != nil {
		return nil, err
	}
	if _, err := s.Driver.Drive(ctx); err != nil {
		return nil, err
	}
	after, err := driver.ReadCounters(s.Program)
	if err != nil {
		return nil, err
	}
	others, err := runsOfOthers(own)
	if err != nil {
		return nil, err
	}
	hooks, tracepoints := s.hooks(), tracepointsOfLinks()
	const aboutAsOften = 0.9
	least := max(aboutAsOften*float64(after.Since(mine).RunCnt), 1)
	for id, now := range others {
		was, ok := before[id]
		here := func(h *hook.Hook) bool { return !h.Elsewhere(now.typ, tracepoints[id]) }
		if ok && float64(now.runs-was.runs) >= least && slices.ContainsFunc(hooks, here) {
			names = append(names, now.name)
		}
	}
	return names, nil
}

// hooks returns the hooks that the subject's programs are attached to.
func (s *Subject) hooks() []*hook.Hook {
	var hooks []*hook.Hook
	if h, ok := s.Driver.(driver.Hooked); ok {
		hooks = append(hooks, h.Hook())
	}
	for _, c := range s.companions {
		hooks = append(hooks, c.Hook)
	}
	return hooks
}

// tracepointsOfLinks returns the tracepoints of the programs that are attached to
// one by a link. What cannot be read of the links is not known.
func tracepointsOfLinks() map[ebpf.ProgramID]string {
	names := map[ebpf.ProgramID]string{}
	it := new(link.Iterator)
	defer it.Close()
	for it.Next() {
		info, err := it.Link.Info()
		if err != nil {
			continue
		}
		name := ""
		if raw := info.RawTracepoint(); raw != nil {
			name = raw.Name
		} else if event := info.PerfEvent(); event != nil && event.Tracepoint() != nil {
			name = event.Tracepoint().Tracepoint
		}
		if was, ok := names[info.Program]; ok && was != name {
			name = "" // it is on several
		}
		names[info.Program] = name
	}
	return names
}

type otherProgram struct {
	typ  ebpf.ProgramType
	name string
	runs uint64
}

// runsOfOthers returns how often each program that is loaded, except the given
// ones, has run.
func runsOfOthers(except map[ebpf.ProgramID]bool) (map[ebpf.ProgramID]otherProgram, error) {
	all := map[ebpf.ProgramID]otherProgram{}
	id, err := ebpf.ProgramGetNextID(0)
	for ; err == nil; id, err = ebpf.ProgramGetNextID(id) {
		if except[id] {
			continue
		}
		p, err := ebpf.NewProgramFromID(id)
		if errors.Is(err, os.ErrNotExist) {
			continue // it was unloaded meanwhile
		}
		if err != nil {
			return nil, err
		}
		info, err := p.Info()
		if err == nil {
			var c driver.Counters
			c, err = driver.ReadCounters(p)
			all[id] = otherProgram{info.Type, fmt.Sprintf("%s (%s, ID %d)", info.Name, object.TypeName(info.Type), id), c.RunCnt}
		}
		_ = p.Close()
		if err != nil {
			return nil, err
		}
	}
	if !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("list the programs that are loaded: %w", err)
	}
	return all, nil
}
