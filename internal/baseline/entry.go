package baseline

import (
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// Entry is everything that is stored for a run.
type Entry struct {
	// The caller of Save fills in the fields of Meta that say so.
	Meta
	Run *bench.Run
	// Objects are the compiled objects by their SHA-256 in hex: all that the results refer
	// to by ObjectSHA256, and possibly more.
	Objects map[string][]byte
	// Files are the suite file and the files it names, by their slash-separated path
	// relative to it, so that the workloads can be replayed. They are optional.
	Files map[string][]byte
	// Points are the centers of the measures, for History.
	Points Points
}

// Meta describes how a run is filed.
type Meta struct {
	// ID is unique in every store and sorts by time: 20261121T114900Z-5f0c2a91, the second
	// of Time and the beginning of a digest of the run. Save sets it.
	ID string `json:"id,omitempty"`
	// Branch and Commit are where the objects come from, if known.
	Branch string `json:"branch,omitempty"`
	Commit string `json:"commit,omitempty"`
	// Time is when the run started, unless the caller of Save sets another time.
	Time time.Time `json:"time"`
	// Tags are the marks of the run, sorted. Save adds those that it is given.
	Tags []string `json:"tags,omitempty"`
	// Testbed is the Key of the testbed, Machine describes it to people, Tool is the
	// version that measured. Save takes them from the run.
	Testbed string `json:"testbed"`
	Machine string `json:"machine"`
	Tool    string `json:"tool,omitempty"`
	// Digests are the SHA-256 of the run's objects, sorted. Save takes them from the
	// entry's Objects.
	Digests []string `json:"objects,omitempty"`
}

// Points are the centers of measures of benchmarks, by measure, then benchmark, in the
// measure's unit.
type Points map[string]map[string]float64
