package action

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/org/ebpf-bench-action/internal/testenv"
)

// action is the part of action.yml that these tests read.
type action struct {
	Inputs  map[string]struct{ Description, Default string }
	Outputs map[string]struct{ Description, Value string }
	Runs    struct{ Steps []actionYMLStep }
}

type actionYMLStep struct {
	ID, Name, If, Run string
	Env               map[string]string
	WorkingDirectory  string `yaml:"working-directory"`
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

func (a *action) step(t *testing.T, id string) *actionYMLStep {
	t.Helper()
	i := slices.IndexFunc(a.Runs.Steps, func(s actionYMLStep) bool { return s.ID == id })
	if i < 0 {
		t.Fatalf("action.yml has no step %s", id)
	}
	return &a.Runs.Steps[i]
}

// inputs returns the variables of a step that carry the inputs.
func (s *actionYMLStep) inputs() map[string]string {
	inputs := maps.Clone(s.Env)
	maps.DeleteFunc(inputs, func(name, _ string) bool { return !strings.HasPrefix(name, inputPrefix) })
	return inputs
}

// run runs a step as the runner does, with a tool that writes down its arguments and exits
// with code.
func (a *action) run(t *testing.T, id string, inputs map[string]string, code int) (args, environ string, err error) {
	t.Helper()
	dir := t.TempDir()
	tool := filepath.Join(dir, "a tool")
	testenv.Write(t, tool, fmt.Appendf(nil, "#!/bin/sh\nprintf '%%s\\n' \"$@\" > '%s/args'\nenv > '%s/env'\nexit %d\n", dir, dir, code))
	if err := os.Chmod(tool, 0o755); err != nil {
		t.Fatal(err)
	}
	step := a.step(t, id)
	cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step.Run)
	cmd.Env = os.Environ()
	for name, value := range step.Env {
		value = expression.ReplaceAllStringFunc(value, func(e string) string {
			switch name := expression.FindStringSubmatch(e)[1]; {
			case name == "steps.install.outputs.bin":
				return tool
			case name == "steps.install.outputs.state":
				return dir
			case strings.HasPrefix(name, "inputs."):
				input := strings.TrimPrefix(name, "inputs.")
				if given, ok := inputs[input]; ok {
					return given
				}
				return a.Inputs[input].Default
			}
			t.Errorf("step %s: what is %s?", id, e)
			return ""
		})
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	out, err := cmd.CombinedOutput()
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatalf("the tool did not run: %s", out)
		}
		return string(text)
	}
	return read("args"), read("env"), err
}

var expression = regexp.MustCompile(`\$\{\{ *([^ }]*) *\}\}`)

// No script contains text from outside.
func TestActionScripts(t *testing.T) {
	for _, s := range readAction(t).Runs.Steps {
		if strings.Contains(s.Run, "${{") {
			t.Errorf("step %s has an expression in its script: %s", s.ID, s.Run)
		}
	}
}

// Each input is documented, reaches the tool as it is, and is read there.
func TestActionInputs(t *testing.T) {
	a := readAction(t)
	hostile := "-a b$(touch /tmp/x)`id`\"'.yml"
	for name, input := range a.Inputs {
		if input.Description == "" {
			t.Errorf("input %s is not documented", name)
		}
		if slices.Contains([]string{"version", "working-directory", "token"}, name) {
			continue
		}
		variable := inputPrefix + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
		args, environ, err := a.run(t, "measure", map[string]string{name: hostile}, 0)
		if err != nil || args != "action\nmeasure\n" || !strings.Contains(environ, "\n"+variable+"="+hostile+"\n") && !strings.HasPrefix(environ, variable+"="+hostile+"\n") {
			t.Errorf("input %s: %v, arguments %q", name, err, args)
		}
		read := false
		_, _ = readInputs(func(v string) string { read = read || v == variable; return "" })
		if !read {
			t.Errorf("input %s: nobody reads %s", name, variable)
		}
	}
	// All steps have the same inputs.
	want := a.step(t, "plan").inputs()
	for _, id := range []string{"plan", "build", "measure", "report"} {
		if at := a.step(t, id).WorkingDirectory; at != "${{ inputs.working-directory }}" {
			t.Errorf("step %s is in %q", id, at)
		}
		if got := a.step(t, id).inputs(); !maps.Equal(got, want) {
			t.Errorf("step %s has %v, and plan %v", id, got, want)
		}
	}
	for name, output := range a.Outputs {
		if output.Description == "" || output.Value != "${{ steps.report.outputs."+name+" }}" {
			t.Errorf("output %s: %+v", name, output)
		}
	}
}

// action.yml names the defaults that the tool has.
func TestActionDefaults(t *testing.T) {
	in, err := readInputs(func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	a := readAction(t)
	for name, got := range map[string]string{"mode": in.mode, "baseline": in.baseline, "fail-on": in.failOn, "no-base": in.noBase, "comment": in.comment} {
		if want := a.Inputs[name].Default; got != want {
			t.Errorf("input %s: %q, and action.yml says %q", name, got, want)
		}
	}
}

// The steps that run the code of a pull request have no token, even if the workflow gave
// one to all steps. The exit code is the tool's.
func TestActionToken(t *testing.T) {
	t.Setenv("GITHUB_TOKEN", "of-the-workflow")
	a := readAction(t)
	inputs := map[string]string{"token": "of-the-input"}
	for id, want := range map[string]string{"plan": "of-the-input", "build": "", "measure": "", "report": "of-the-input"} {
		_, environ, err := a.run(t, id, inputs, 3)
		if err == nil || err.Error() != "exit status 3" {
			t.Errorf("%s: %v, want exit status 3", id, err)
		}
		var got []string
		for line := range strings.Lines(environ) {
			if strings.Contains(line, "of-the-") || strings.HasPrefix(line, "GITHUB_TOKEN=") {
				got = append(got, strings.TrimSpace(line))
			}
		}
		if !slices.Equal(got, []string{"GITHUB_TOKEN=" + want}) {
			t.Errorf("%s: %q, want the token %q", id, got, want)
		}
	}
	// The shell above them has none either, and a build gets no variable that a Makefile
	// could mistake for its own.
	for _, id := range []string{"build", "measure"} {
		step := a.step(t, id)
		if !strings.HasPrefix(step.Run, "exec ") {
			t.Errorf("step %s: %s", id, step.Run)
		}
		for name := range step.Env {
			if name != "GITHUB_TOKEN" && !strings.HasPrefix(name, inputPrefix) {
				t.Errorf("step %s has %s", id, name)
			}
		}
	}
	for _, id := range []string{"install", "qemu"} {
		for name, value := range a.step(t, id).Env {
			if strings.Contains(value, "token") {
				t.Errorf("step %s has %s: %s", id, name, value)
			}
		}
	}
}

// pathOf returns a PATH with only these commands.
func pathOf(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		at, err := exec.LookPath(name)
		if err == nil {
			err = os.Symlink(at, filepath.Join(dir, name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// installAction runs install.sh from a copy of the action whose release serves that text
// as its binary, with that PATH if it is not empty.
func installAction(t *testing.T, sums, version, served, path string) (bin, said string, err error) {
	t.Helper()
	dir := t.TempDir()
	script, err := os.ReadFile("../../action/install.sh")
	if err != nil {
		t.Fatal(err)
	}
	testenv.Write(t, filepath.Join(dir, "action/install.sh"), script)
	if sums != "" {
		testenv.Write(t, filepath.Join(dir, "action/SHA256SUMS"), []byte(sums))
	}
	testenv.Write(t, filepath.Join(dir, "go.mod"), []byte("module example.org/x\n\ngo 1.26\n"))
	testenv.Write(t, filepath.Join(dir, "cmd/ebpf-bench/main.go"), []byte("package main\n\nfunc main() { println(\"built\") }\n"))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if served == "" || !strings.HasPrefix(r.URL.Path, "/v1.2.3/ebpf-bench-v1.2.3-linux-") {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, served)
	}))
	t.Cleanup(server.Close)
	output := filepath.Join(dir, "output")
	cmd := exec.Command("bash", filepath.Join(dir, "action/install.sh"))
	cmd.Env = append(os.Environ(), "RUNNER_TEMP="+dir, "GITHUB_OUTPUT="+output, "EBPF_BENCH_VERSION="+version, "EBPF_BENCH_RELEASES="+server.URL)
	if path != "" {
		cmd.Env = append(cmd.Env, "PATH="+path)
	}
	out, failed := cmd.CombinedOutput()
	text, _ := os.ReadFile(output)
	bin, _, _ = strings.Cut(strings.TrimPrefix(string(text), "bin="), "\n")
	return bin, string(out), failed
}

func TestInstall(t *testing.T) {
	const binary = "#!/bin/sh\necho released\n"
	sums := "# ebpf-bench v1.2.3, built by go1.26.8: make release VERSION=v1.2.3\n"
	for _, arch := range []string{"amd64", "arm64"} {
		sums += fmt.Sprintf("%x  ebpf-bench-v1.2.3-linux-%s\n", sha256.Sum256([]byte(binary)), arch)
	}
	for what, c := range map[string]struct {
		sums, version, served string
		path                  string
		want, said            string
		fails                 string
	}{
		"the release":          {sums: sums, served: binary, want: "released", said: "as action/SHA256SUMS has it"},
		"the release by name":  {sums: sums, version: "v1.2.3", served: binary, want: "released"},
		"from source":          {sums: sums, version: "source", served: binary, want: "built"},
		"a branch":             {want: "built"},
		"a release not there":  {sums: sums, want: "built", said: "warning: "},
		"another binary":       {sums: sums, served: binary + "evil", fails: "exit status 3", said: "SHA256SUMS says"},
		"another version":      {sums: sums, version: "v1.2.4", served: binary, fails: "exit status 2", said: "knows ebpf-bench-v1.2.3-linux-"},
		"no sums of a version": {version: "v1.2.3", served: binary, fails: "exit status 2", said: "knows no release"},
		"no curl":              {sums: sums, served: binary, path: pathOf(t, "bash", "chmod", "dirname", "go", "head", "mktemp", "mv", "sed", "sha256sum", "uname"), want: "built", said: "no curl to download ebpf-bench-v1.2.3-linux-"},
		"a hostile version":    {sums: sums, version: "latest; id", served: binary, fails: "exit status 2", said: "input version"},
	} {
		t.Run(what, func(t *testing.T) {
			bin, said, err := installAction(t, c.sums, c.version, c.served, c.path)
			if !strings.Contains(said, c.said) {
				t.Errorf("it says %q, want %q", said, c.said)
			}
			if c.fails != "" {
				if err == nil || err.Error() != c.fails || bin != "" {
					t.Errorf("%v, binary %q; want %s", err, bin, c.fails)
				}
				return
			}
			if err != nil {
				t.Fatalf("%v: %s", err, said)
			}
			out, err := exec.Command(bin).CombinedOutput()
			if got := strings.TrimSpace(string(out)); err != nil || got != c.want {
				t.Errorf("the binary says %q, %v; want %q", got, err, c.want)
			}
		})
	}
}
