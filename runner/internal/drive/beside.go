package drive

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/object"
)

// Beside drives one slice and returns the programs of others that it ran about as
// often as the subject's, or more often: what each event ran beside it, such as
// those that another tool attached to the same hook. Statistics must be on.
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
	mine, err := ReadCounters(s.Program)
	if err != nil {
		return nil, err
	}
	if _, err := s.Driver.Drive(ctx); err != nil {
		return nil, err
	}
	after, err := ReadCounters(s.Program)
	if err != nil {
		return nil, err
	}
	others, err := runsOfOthers(own)
	if err != nil {
		return nil, err
	}
	const aboutAsOften = 0.9
	least := max(aboutAsOften*float64(after.Since(mine).RunCnt), 1)
	for id, now := range others {
		was, ok := before[id]
		if ok && float64(now.runs-was.runs) >= least {
			names = append(names, now.name)
		}
	}
	return names, nil
}

type otherProgram struct {
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
			var c Counters
			c, err = ReadCounters(p)
			all[id] = otherProgram{fmt.Sprintf("%s (%s, ID %d)", info.Name, object.TypeName(info.Type), id), c.RunCnt}
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
