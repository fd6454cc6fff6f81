package guard

import (
	"testing"

	"github.com/org/ebpf-bench-action/internal/workload/workloadtest"
)

func TestMain(m *testing.M) {
	workloadtest.Main(m, map[string]func(){"cgroup": holdCgroupWithWorker, "sysctl": holdSysctl})
}
