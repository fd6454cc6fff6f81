package action

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/exit"
)

// planned is a step that carries out a plan.
type planned struct {
	*step
	*plan
}

// openPlan reads the plan that an earlier step made.
func (p *planned) openPlan() error {
	p.plan = &plan{}
	ok, err := p.state.read(planFile, p.plan)
	if err == nil && !ok {
		err = bench.WithHint(errors.New("no plan"), "call ebpf-bench action plan before, with the same EBPF_BENCH_STATE")
	}
	return err
}

func (p *planned) writePlan() error { return p.state.write(planFile, p.plan) }

// noBase records that the head is measured alone, and why.
func (p *planned) noBase(of lack, why string) error {
	p.Base, p.Lack, p.Note = baseNone, of, "no base: "+why
	p.warn("%s", p.Note)
	return exit.NoMeasure(p.writePlan())
}

// baseTop returns the folder of the checkout of the base, baseDir the working directory in it.
func (p *planned) baseTop() string { return p.state.path(baseFolder) }
func (p *planned) baseDir() string { return filepath.Join(p.baseTop(), p.Prefix) }

// suiteIn returns the file in a checkout that has the same path in it as the suite that is
// measured here, empty if there is none.
func (p *planned) suiteIn(checkout string) string {
	for _, name := range p.in.suiteNames() {
		name, err := p.inCheckout(name)
		if err != nil || !filepath.IsLocal(name) {
			continue
		}
		file := filepath.Join(checkout, name)
		if _, err := os.Stat(file); err == nil {
			return file
		}
	}
	return ""
}

// inCheckout returns the path in the checkout of a file that is named from the working
// directory, which may be known by a symlink.
func (p *plan) inCheckout(name string) (string, error) {
	if !filepath.IsAbs(name) {
		return filepath.Join(p.Prefix, name), nil
	}
	if rel, err := filepath.Rel(p.Top, name); err == nil && filepath.IsLocal(rel) {
		return rel, nil
	}
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(here, name)
	return filepath.Join(p.Prefix, rel), err
}
