// Package bench defines the types that all other packages share: a Benchmark (what to
// measure), a Run with its Results and Samples (what was measured), and their versioned
// JSON. It knows nothing about kernels, files or statistics.
package bench

import (
	"fmt"
	"strings"
	"time"
)

// Benchmark is one named test: a program, how it is attached and what drives it. At most
// one driver is set; without one, the program's type determines the driver.
type Benchmark struct {
	// Name identifies the benchmark in every report; unique in a suite, also
	// after slugifying.
	Name string `yaml:"name"`
	// Object is the ELF object that holds the program, relative to the suite file. It is
	// optional if only one object of the suite has Program.
	Object string `yaml:"object"`
	// Program is the name of the program's function in the object.
	Program string `yaml:"program"`
	// Globals sets global variables by name before the program is loaded.
	Globals map[string]any `yaml:"globals"`
	// Maps prepares maps by name before the program runs.
	Maps map[string]MapPrep `yaml:"maps"`
	// State is which runs find maps as they were prepared.
	State State `yaml:"state"`
	// Prepare runs other programs of the object, in turn, before the program runs. They
	// see the same maps.
	Prepare []Preparation `yaml:"prepare"`
	// Replace replaces functions of the program by freplace programs before it runs.
	Replace []Replacement `yaml:"replace"`
	// Parallel runs the program on all CPUs at once, by test_run.
	Parallel bool `yaml:"parallel"`
	// Budget is the measuring time of this benchmark, without its warm-up.
	Budget Duration `yaml:"budget"`

	TestRun   *TestRun   `yaml:"test_run"`
	Veth      *Veth      `yaml:"veth"`
	PerfEvent *PerfEvent `yaml:"perf_event"`
	Cgroup    *Exchange  `yaml:"cgroup"`
	Socket    *Exchange  `yaml:"socket"`
	Command   *Command   `yaml:"command"`
	Verify    *Verify    `yaml:"verify"`
}

// Duration is a time.Duration that reads and writes as text, such as 500ms.
type Duration time.Duration

// UnmarshalText reads what time.ParseDuration reads.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%q is not a duration such as 500ms or 2s, or too long", text)
	}
	*d = Duration(v)
	return nil
}

// MarshalText writes the duration as time.Duration prints it.
func (d Duration) MarshalText() ([]byte, error) {
	return []byte(time.Duration(d).String()), nil
}

// Slug returns a name as Bencher keys it: in lower case, with a dash for every character
// that is neither letter nor digit. Names with the same slug cannot be distinguished.
func Slug(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + ('a' - 'A')
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return '-'
	}, name)
}

// Replacement is a freplace program that takes the place of a function of the
// benchmark's program.
type Replacement struct {
	// Program is the name of the freplace program's function in its object.
	Program string `yaml:"program"`
	// Object is its object, relative to the suite file. The default is the object of the
	// benchmark's program, or else the only other one that has it.
	Object string `yaml:"object"`
	// Function is the function that it replaces. The default comes from its section,
	// freplace/FUNCTION.
	Function string `yaml:"function"`
}

// Replaced is a function of a program that another program replaced.
type Replaced struct {
	Function string `json:"function"`
	Program  string `json:"program"`
	// Object is the path of the freplace program's object in the suite,
	// ObjectSHA256 its digest in hex.
	Object       string `json:"object"`
	ObjectSHA256 string `json:"object_sha256,omitempty"`
}

// ObjectFile is an object by its path in the suite, with its digest in hex.
type ObjectFile struct{ Path, SHA256 string }

// Objects returns the objects that were measured: the program's, and those of the programs
// that replaced its functions.
func (r *Result) Objects() []ObjectFile {
	all := []ObjectFile{{r.Object, r.ObjectSHA256}}
	for _, by := range r.Replaced {
		all = append(all, ObjectFile{by.Object, by.ObjectSHA256})
	}
	return all
}
