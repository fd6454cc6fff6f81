package main

import (
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/runner"
)

// sideObjects are what both sides of a comparison have of a suite: another build
// of its objects, or, where both have a suite, each its own.
type sideObjects struct {
	// Base and Head are the objects, by the paths that the suite knows them by,
	// and the programs where just one of each is compared.
	Base        []suite.Object `json:"base,omitempty"`
	Head        []suite.Object `json:"head"`
	BaseProgram string         `json:"base_program,omitempty"`
	HeadProgram string         `json:"head_program,omitempty"`
	// BaseSuite is the file of the base's own suite below guestBaseRoot.
	BaseSuite string `json:"base_suite,omitempty"`
	// Only are the benchmarks to compare; nil is all.
	Only []string `json:"only"`

	// own is the base's own suite, nil where it has none.
	own *suite.Suite
}

// plan pairs the benchmarks of both sides.
func (o *sideObjects) plan(s *suite.Suite) ([]runner.PairJob, error) {
	if o.own != nil {
		return runner.PlanSuites(s.WithObjects(o.Head).Only(o.Only), o.own.Only(o.Only))
	}
	head, base, err := o.apply(s)
	if err != nil {
		return nil, err
	}
	return runner.PlanPairs(head, base)
}

// apply makes both sides of a suite.
func (o *sideObjects) apply(s *suite.Suite) (head, base *suite.Suite, err error) {
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

// packed are the sides for a guest, to whose files it adds those of the base's suite.
func (o *sideObjects) packed(files map[string][]byte) *sideObjects {
	packed := *o
	if o.own != nil {
		packed.Base, packed.BaseSuite = nil, absolute(o.own.File)
		for name, data := range o.own.Files() {
			files[guestBaseRoot+absolute(name)] = data
		}
	}
	return &packed
}

// unpack reads the base's suite in a guest.
func (o *sideObjects) unpack() (err error) {
	if o.BaseSuite != "" {
		o.own, err = suite.Load(suite.Root(guestBaseRoot), o.BaseSuite)
	}
	return err
}
