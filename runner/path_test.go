package runner

import (
	"testing"

	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/runner/internal/drive"
)

// Time substitutes for instructions here: the test checks that the events
// happen with and without the program, and that each is counted separately.
func TestPathIsDrivenWithAndWithoutTheProgram(t *testing.T) {
	testenv.Root(t)
	for _, mode := range []string{"native", "generic"} {
		plan := planOf(t, objects+"  - {name: a, program: fun_xdp_basic, veth: {sender: af_packet, mode: "+mode+"}}\n")
		onThread(t, func(env *drive.Environment) {
			stats, err := drive.EnableStats()
			if err != nil {
				t.Fatal(err)
			}
			defer stats.Close()
			s, err := drive.Open(t.Context(), env, plan.Jobs[0])
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			path, err := comparePath(t.Context(), s.Driver.(drive.PathDriver))
			if err != nil {
				t.Fatal(err)
			}
			if path.Events != len(plan.Jobs[0].Frames) || path.Attached == 0 || path.Detached == 0 {
				t.Errorf("%s: path %+v", mode, path)
			}
			ran, err := drive.ReadCounters(s.Program)
			if err != nil {
				t.Fatal(err)
			}
			if want := uint64(pathRounds * path.Events); ran.RunCnt != want {
				t.Errorf("%s: the program ran %d times, want %d: with it attached only", mode, ran.RunCnt, want)
			}
		})
	}
}
