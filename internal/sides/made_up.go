package sides

import (
	"errors"
	"fmt"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/strictyaml"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/runner"
)

// madeUpSuite returns a suite with a benchmark for each program of either side.
func madeUpSuite(m *Matchup) (*suite.Suite, error) {
	text, err := runner.Suggest(m.Head.Objects, inPlaceOf(m.Head.Objects, m.Base.Objects))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{"made-up.yml": []byte(text)}
	for _, o := range m.Head.Objects {
		files[o.Path] = o.Data
	}
	s, err := suite.Load(suite.Memory(files), "made-up.yml")
	return s, ofMadeUp(err)
}

// ofMadeUp returns what is wrong with a generated suite, without positions in
// lines that nobody wrote.
func ofMadeUp(err error) error {
	var at *strictyaml.Error
	if !errors.As(err, &at) {
		return err
	}
	return bench.WithHint(fmt.Errorf("make a benchmark of each program: %s", at.Msg), "write a suite, which names the programs to measure: --suite ebpf-bench.yml")
}
