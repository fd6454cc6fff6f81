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
	// resolved is a benchmark of a program that is in no object, jobOf one of XDP.
	resolved, tryJob, jobOf = plantest.Job, plantest.TryJob, plantest.Made
	returns, loads          = plantest.Returns, plantest.Loads
)
