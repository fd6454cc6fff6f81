package runner

import (
	"slices"
	"testing"

	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
	"github.com/org/ebpf-bench-action/runner/internal/subject"
)

// The events happen with and without the program, and each is timed separately. Outside
// the exact guest no two rounds need take the same time.
func TestPathIsDrivenWithAndWithoutTheProgram(t *testing.T) {
	testenv.Root(t)
	for _, mode := range []string{"native", "generic"} {
		plan := planOf(t, objects+"  - {name: a, program: fun_xdp_basic, veth: {sender: af_packet, mode: "+mode+"}}\n")
		onThread(t, func(env *driver.Environment) {
			stats, err := driver.EnableStats()
			if err != nil {
				t.Fatal(err)
			}
			defer stats.Close()
			s, err := subject.Open(t.Context(), env, plan.Jobs[0])
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			events, attached, detached, err := timePath(t.Context(), s.Driver.(driver.PathDriver))
			if err != nil {
				t.Fatal(err)
			}
			if events != len(plan.Jobs[0].Frames) || len(attached) != pathRounds || len(detached) != pathRounds {
				t.Errorf("%s: %d events, %d rounds with the program and %d without", mode, events, len(attached), len(detached))
			}
			if slices.Min(attached) == 0 || slices.Min(detached) == 0 {
				t.Errorf("%s: rounds that took no time: %v, %v", mode, attached, detached)
			}
			ran, err := driver.ReadCounters(s.Program)
			if err != nil {
				t.Fatal(err)
			}
			if want := uint64(pathRounds * events); ran.RunCnt != want {
				t.Errorf("%s: the program ran %d times, want %d: with it attached only", mode, ran.RunCnt, want)
			}
		})
	}
}
