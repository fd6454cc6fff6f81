// Package job measures a suite, compares two sides, explains their lines or searches their
// programs on other kernels, by running this tool in virtual machines.
package job

import (
	"encoding/json"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/fleet"
	"github.com/org/ebpf-bench-action/internal/sides"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/vm"
	"github.com/org/ebpf-bench-action/runner"
)

// Options say how much is measured.
type Options struct {
	// Tool is the version of this tool.
	Tool          string
	Rounds, Loads int
	Budget        time.Duration // per benchmark
	Seed          uint64        // 0 is a random one
	ByDefault     bool          // nobody named the kernel
	// Done is called for each kernel without an error, with the time that it took.
	Done func(release string, took time.Duration)
}

// done calls Done for a kernel, unless there was an error.
func (o Options) done(testbed *bench.Testbed, began time.Time, err error) {
	if err == nil {
		o.Done(testbed.Kernel, time.Since(began))
	}
}

// The files of a guest.
const (
	// jobFile is the file with its job.
	jobFile = "/job.json"
	// guestRoot is the folder of the suite's files, and guestBaseRoot that of the base's
	// own suite, whose files may have the names of the head's.
	guestRoot     = "/suite"
	guestBaseRoot = "/base"
)

// job is what this tool does in a virtual machine: it measures a suite, or compares,
// explains or searches sides of it.
type job struct {
	// Suite is the suite's file, empty for the bundled suite, and Only are the benchmarks
	// to measure; nil means all.
	Suite string   `json:"suite,omitempty"`
	Only  []string `json:"only"`

	Rounds int           `json:"rounds,omitempty"`
	Loads  int           `json:"loads,omitempty"`
	Budget time.Duration `json:"budget,omitempty"`
	Seed   uint64        `json:"seed,omitempty"`

	// Sides are compared, or explained if Explain says how, or their head is searched if
	// Search does. BaseSuite is the file of the base's own suite below guestBaseRoot.
	Sides     *sides.Objects        `json:"sides,omitempty"`
	Explain   *sides.ExplainPlan    `json:"explain,omitempty"`
	Search    *runner.SearchOptions `json:"search,omitempty"`
	BaseSuite string                `json:"base_suite,omitempty"`
}

// guest returns a virtual machine for the job, with the files of the suite.
func (j job) guest(s *suite.Suite) (fleet.Guest, error) {
	files := map[string][]byte{}
	if !s.Bundled {
		j.Suite = absolute(s.File)
		for name, data := range s.Files() {
			files[guestRoot+absolute(name)] = data
		}
	}
	if j.Sides != nil && j.Sides.Own != nil {
		packed := *j.Sides
		packed.Base, j.BaseSuite = nil, absolute(packed.Own.File)
		for name, data := range packed.Own.Files() {
			files[guestBaseRoot+absolute(name)] = data
		}
		j.Sides = &packed
	}
	text, err := json.Marshal(j)
	files[jobFile] = text
	return fleet.Guest{Files: files, Args: func(mode vm.Mode) []string { return []string{"guest", mode.String()} }}, err
}
