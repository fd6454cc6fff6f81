package action

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/input"
)

// state is the folder through which the steps of the action pass on their results. Between
// them the code of a pull request ran as the same user, so no reader trusts its files.
type state string

// The files and folders of the state.
const (
	planFile    = "plan.json"
	resultsFile = "results.json"
	failureFile = "failure.json"
	reportFile  = "report.md"
	bmfFile     = "bmf.json"
	// baseFolder is the checkout of the base, storedFolder a baseline with the stored
	// base, savedFolder one with the runs to save.
	baseFolder   = "base"
	storedFolder = "baseline"
	savedFolder  = "run"
)

func openState(dir string) (state, error) {
	if dir == "" {
		return "", bench.WithHint(errors.New("EBPF_BENCH_STATE is not set"), "it names the folder through which the steps of the action pass on their findings")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return state(abs), os.MkdirAll(abs, 0o755)
}

func (s state) path(name string) string { return filepath.Join(string(s), name) }

// The sources of a base.
const (
	baseBuilt  = "built"
	baseStored = "stored"
	baseNone   = ""
)

// plan is what a run of the action will do.
type plan struct {
	// Base is where the base comes from.
	Base string `json:"base,omitempty"`
	// Commit is the merge base, Prefix the working directory in its checkout.
	Commit string `json:"commit,omitempty"`
	// Top is the folder of the head's checkout.
	Top    string `json:"top,omitempty"`
	Prefix string `json:"prefix,omitempty"`
	// Changed are the paths in the checkouts that differ: files, or submodules with all in them.
	Changed []string `json:"changed,omitempty"`
	// Renewed is when the files of the base were made to look new for its build, and
	// HeadRenewed when those of the head that differ were.
	Renewed     time.Time `json:"renewed,omitzero"`
	HeadRenewed time.Time `json:"head_renewed,omitzero"`
	// Apart says that the base was built at another path than the head.
	Apart bool `json:"apart,omitempty"`
	// Run is a run of the stored baseline.
	Run string `json:"run,omitempty"`
	// Note says where the base comes from, or why there is none.
	Note string `json:"note,omitempty"`
	// Lacking says what the checkout of the base could not be filled with.
	Lacking string `json:"lacking,omitempty"`
	// Lack is why there is none, where there should be one, and Output the end of what its
	// build wrote.
	Lack   lack   `json:"lack,omitempty"`
	Output string `json:"output,omitempty"`
	// BaseSide and HeadSide describe the two sides.
	BaseSide bench.Side `json:"base_side"`
	HeadSide bench.Side `json:"head_side"`
	// Save says that the run will become a baseline.
	Save bool `json:"save,omitempty"`
}

// failure is why a step failed.
type failure struct {
	Step string `json:"step"`
	Code int    `json:"code"`
	Text string `json:"text"`
}

// maxStateFile is the largest file of the state that read accepts, in bytes.
const maxStateFile = 16 << 20

// clear forgets what an earlier run with the same folder found.
func (s state) clear() error {
	var errs []error
	for _, name := range []string{planFile, resultsFile, failureFile, reportFile, bmfFile} {
		if err := os.Remove(s.path(name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (s state) write(name string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := os.WriteFile(s.path(name), append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("pass on to the next step: %w", err)
	}
	return nil
}

// read reads a file of the state, and reports whether it exists.
func (s state) read(name string, v any) (bool, error) {
	file, err := input.Regular(s.path(name))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxStateFile+1))
	if err == nil && len(text) > maxStateFile {
		err = fmt.Errorf("larger than %d MiB", maxStateFile>>20)
	}
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		return false, fmt.Errorf("read %s: %w", name, err)
	}
	return true, nil
}
