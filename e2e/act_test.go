package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/testenv"
)

// run is the result of running a workflow.
type run struct {
	code int
	// log is the output of the steps, summary the text that they added to the job's
	// summary.
	log, summary string
	// outputs are the outputs of the job's steps.
	outputs map[string]string
	steps   []step
	took    time.Duration
}

// step is a step of the job, or a step of an action, whose ID begins with that of the
// job's step.
type step struct {
	id     []string
	result string
	took   time.Duration
}

// line is a line of act's log.
type line struct {
	Message string   `json:"msg"`
	Raw     bool     `json:"raw_output"`
	Stage   string   `json:"stage"`
	StepID  []string `json:"stepID"`
	Result  string   `json:"stepResult"`
	Took    int64    `json:"executionTime"`
	Command string   `json:"command"`
	Content string   `json:"content"`
	Name    string   `json:"name"`
	Arg     string   `json:"arg"`
}

// act runs a job of a workflow in a checkout, on this machine.
func act(t testing.TB, gh *github, s *scratch, e event, args ...string) *run {
	t.Helper()
	dir, eventPath := s.checkout(e)
	args = append([]string{
		e.name, "-C", dir, "-e", eventPath, "--json", "--no-cache-server", "--rm",
		"--action-cache-path", t.TempDir(),
		"-P", "ubuntu-24.04=-self-hosted", "-P", "ubuntu-latest=-self-hosted",
		"-s", "GITHUB_TOKEN=" + token,
		"--env", "GITHUB_API_URL=" + gh.URL, "--env", "GITHUB_SERVER_URL=" + gh.URL, "--env", "GITHUB_REPOSITORY=" + owner + "/" + repo,
	}, args...)
	cmd := exec.Command(tool(t, "act"), args...)
	// Without a settings file act would ask for some.
	home := t.TempDir()
	testenv.Write(t, filepath.Join(home, "act", "actrc"), nil)
	cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+home)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	began := time.Now()
	err := cmd.Run()
	r := &run{code: cmd.ProcessState.ExitCode(), took: time.Since(began), outputs: map[string]string{}}
	if failed := (*exec.ExitError)(nil); err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	r.read(t, &stdout)
	if t.Logf("%s: exit code %d in %.1f s\n%s%s", e.name, r.code, r.took.Seconds(), r.log, stderr.String()); len(r.steps) == 0 {
		t.Fatalf("act ran nothing: %s", stdout.String())
	}
	return r
}

// read reads the log of act.
func (r *run) read(t testing.TB, log *bytes.Buffer) {
	t.Helper()
	var text, summary strings.Builder
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var l line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Fatalf("act printed %q: %v", lines.Text(), err)
		}
		switch {
		case l.Raw:
			text.WriteString(l.Message)
		case l.Command == "summary" && len(l.StepID) == 1:
			summary.WriteString(l.Content)
		case l.Command == "set-output" && len(l.StepID) == 1:
			r.outputs[l.Name] = l.Arg
		case l.Command != "" && l.Command != "summary" && l.Command != "set-output":
			text.WriteString(l.Message + "\n")
		case l.Result != "" && l.Stage == "Main":
			r.steps = append(r.steps, step{l.StepID, l.Result, time.Duration(l.Took)})
		}
	}
	r.log, r.summary = text.String(), summary.String()
}

// own returns how long the action's steps took, except those that install the tool.
func (r *run) own() (own time.Duration) {
	for _, s := range r.steps {
		if len(s.id) == 2 && !slices.Contains([]string{"install", "qemu"}, s.id[1]) {
			own += s.took
		}
	}
	return own
}
