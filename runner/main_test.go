package runner

import (
	"os"
	"testing"

	"github.com/org/ebpf-bench-action/internal/workload/process"
	"github.com/org/ebpf-bench-action/runner/internal/plan/plantest"
)

func TestMain(m *testing.M) {
	process.RunHelper()
	os.Exit(m.Run())
}

const objects = plantest.Objects

var (
	planOf, tryPlan = plantest.Of, plantest.Try
	suiteOf         = plantest.Suite
	// resolved makes a benchmark of a program without an object, jobOf an XDP
	// one.
	resolved, tryJob, jobOf = plantest.Job, plantest.TryJob, plantest.Made
	returns, loads          = plantest.Returns, plantest.Loads
)
