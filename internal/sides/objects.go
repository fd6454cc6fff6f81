package sides

import (
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/runner"
)

// Objects are what both sides of a comparison have of a suite: another build of
// its objects or, if both have a suite, their own objects.
type Objects struct {
	// Base and Head are the objects, by their paths in the suite, and
	// BaseProgram and HeadProgram the programs if just one of each is compared.
	Base        []suite.Object `json:"base,omitempty"`
	Head        []suite.Object `json:"head"`
	BaseProgram string         `json:"base_program,omitempty"`
	HeadProgram string         `json:"head_program,omitempty"`
	// Only are the benchmarks to compare; nil means all.
	Only []string `json:"only"`
	// Alike are the base's benchmarks that are compared with those of another
	// name, the key: see runner.Alike.
	Alike map[string]string `json:"alike,omitempty"`

	// Own is the base's own suite, or nil.
	Own *suite.Suite `json:"-"`
}

// Plan pairs the benchmarks of both sides.
func (o *Objects) Plan(s *suite.Suite) ([]runner.PairJob, error) {
	pair, head, base := runner.PlanSuites, s.WithObjects(o.Head).Only(o.Only), o.Own
	if base != nil {
		base = base.Only(o.Only)
	} else {
		var err error
		if head, base, err = o.apply(s); err != nil {
			return nil, err
		}
		pair = runner.PlanPairs
	}
	pairs, err := pair(head, base)
	if err != nil {
		return nil, err
	}
	pairs, err = runner.JoinAlike(pairs, head, base, o.Alike)
	for i := range pairs {
		pairs[i].Once = pairs[i].Identical()
	}
	return pairs, err
}

// apply makes both sides of a suite.
func (o *Objects) apply(s *suite.Suite) (head, base *suite.Suite, err error) {
	head = s.WithObjects(o.Head).Only(o.Only)
	if o.HeadProgram != "" {
		if head, err = head.OfProgram(o.HeadProgram); err != nil {
			return nil, nil, err
		}
	}
	base = head.WithObjects(o.Base)
	if o.BaseProgram != "" {
		base = base.WithProgram(o.BaseProgram)
	}
	return head, base, nil
}
