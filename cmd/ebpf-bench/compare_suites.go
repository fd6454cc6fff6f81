package main

import (
	"encoding/json"
	"os"
	"slices"

	"github.com/org/ebpf-bench-action/internal/bench"
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

const (
	// sidesFile is the file of a guest that holds the objects of both sides.
	sidesFile = "/sides.json"
	// guestBaseRoot is the folder of a guest that holds the files of the base's
	// suite. They may have the names of the head's.
	guestBaseRoot = "/base"
)

// plan pairs the benchmarks of both sides.
func (o *sideObjects) plan(s *suite.Suite) ([]runner.PairJob, error) {
	if o.own != nil {
		return runner.PlanSuites(o.only(s.WithObjects(o.Head)), o.only(o.own))
	}
	head, base, err := o.apply(s)
	if err != nil {
		return nil, err
	}
	return runner.PlanPairs(head, base)
}

// apply makes both sides of a suite.
func (o *sideObjects) apply(s *suite.Suite) (head, base *suite.Suite, err error) {
	head = o.only(s.WithObjects(o.Head))
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

func (o *sideObjects) only(s *suite.Suite) *suite.Suite {
	if o.Only == nil {
		return s
	}
	s = s.WithObjects(s.Objects)
	s.Benchmarks = slices.DeleteFunc(slices.Clone(s.Benchmarks), func(b bench.Benchmark) bool { return !slices.Contains(o.Only, b.Name) })
	return s
}

// pack adds to the files of a guest what unpackSides takes from them.
func (o *sideObjects) pack(files map[string][]byte) error {
	packed := *o
	if o.own != nil {
		packed.Base, packed.BaseSuite = nil, absolute(o.own.File)
		for name, data := range o.own.Files() {
			files[guestBaseRoot+absolute(name)] = data
		}
	}
	text, err := json.Marshal(&packed)
	files[sidesFile] = text
	return err
}

// unpackSides reads the sides in a guest.
func unpackSides() (*sideObjects, error) {
	text, err := os.ReadFile(sidesFile)
	if err != nil {
		return nil, err
	}
	var o sideObjects
	if err := json.Unmarshal(text, &o); err != nil {
		return nil, err
	}
	if o.BaseSuite != "" {
		o.own, err = suite.Load(suite.Root(guestBaseRoot), o.BaseSuite)
	}
	return &o, err
}
