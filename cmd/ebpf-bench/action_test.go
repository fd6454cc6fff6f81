package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// action is what these tests read of action.yml.
type action struct {
	Inputs map[string]struct{ Default string }
	Runs   struct {
		Steps []struct {
			ID, Name, Run string
			Env           map[string]string
		}
	}
}

func readAction(t *testing.T) *action {
	t.Helper()
	text, err := os.ReadFile("../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var a action
	if err := yaml.Unmarshal(text, &a); err != nil {
		t.Fatal(err)
	}
	return &a
}

// measureStep runs the step that measures, with a tool that writes down its
// arguments and ends with that code.
func (a *action) measureStep(t *testing.T, inputs map[string]string, code string) (args []string, output string, err error) {
	t.Helper()
	dir := t.TempDir()
	tool, log, outputs := filepath.Join(dir, "tool"), filepath.Join(dir, "args"), filepath.Join(dir, "outputs")
	script := "#!/bin/sh\nprintf '%s\\n' \"$@\" > '" + log + "'\nexit " + code + "\n"
	if err := os.WriteFile(tool, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "GITHUB_OUTPUT="+outputs, "BIN="+tool, "RESULTS=results.json")
	for _, step := range a.Runs.Steps {
		if step.ID != "run" {
			continue
		}
		for name, value := range step.Env {
			input, ok := strings.CutPrefix(strings.TrimSuffix(value, " }}"), "${{ inputs.")
			if !ok {
				continue
			}
			given, ok := inputs[input]
			if !ok {
				given = a.Inputs[input].Default
			}
			env = append(env, name+"="+given)
		}
		cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step.Run)
		cmd.Env = env
		out, failed := cmd.CombinedOutput()
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatalf("the tool did not run: %s", out)
		}
		written, err := os.ReadFile(outputs)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSpace(string(text)), "\n"), string(written), failed
	}
	t.Fatal("action.yml has no step run")
	return nil, "", nil
}

func TestActionArguments(t *testing.T) {
	a := readAction(t)
	for _, test := range []struct {
		inputs map[string]string
		want   string
	}{
		{nil, "run --out results.json --vm exact"},
		{map[string]string{"mode": "host"}, "run --out results.json --vm off"},
		{map[string]string{"kernels": "6.1,6.12"}, "run --out results.json --vm exact --kernel 6.1,6.12"},
		{map[string]string{"mode": "kvm", "config": "-a b$(id).yml"}, "run --out results.json --vm kvm -- -a b$(id).yml"},
	} {
		args, output, err := a.measureStep(t, test.inputs, "0")
		if got := strings.Join(args, " "); got != test.want || err != nil || output != "results=results.json\n" {
			t.Errorf("%v: %q, %v, outputs %q; want %q", test.inputs, got, err, output, test.want)
		}
	}
}

func TestActionFails(t *testing.T) {
	_, output, err := readAction(t).measureStep(t, nil, "3")
	if err == nil || err.Error() != "exit status 3" || output == "" {
		t.Errorf("%v, outputs %q; want exit status 3, and outputs all the same", err, output)
	}
}
