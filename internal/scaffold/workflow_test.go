package scaffold

import (
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"gopkg.in/yaml.v3"
)

// The written workflow, with the project's own build, is the recipe and that in the README.
func TestWorkflowIsTheRecipe(t *testing.T) {
	w := Workflow{Config: "ebpf-bench.yml", Build: Build{Command: "make bpf", Why: "a target of the Makefile"}}
	recipe, err := os.ReadFile("../../docs/recipes/plain.yml")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(readme), "```yaml\n# .github/workflows/ebpf-bench.yml\n")
	example, _, _ = strings.Cut(example, "```")
	want := workflow(t, w.Text())
	for where, text := range map[string]string{"plain.yml": string(recipe), "README.md": example} {
		if got := workflow(t, text); !reflect.DeepEqual(got, want) {
			t.Errorf("%s has %v, want %v", where, got, want)
		}
	}
}

// workflow returns what a workflow does, without its name.
func workflow(t *testing.T, text string) (w map[string]any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text), &w); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	delete(w, "name")
	return w
}

func TestWorkflow(t *testing.T) {
	w := Workflow{Config: "ebpf-bench.yml", WorkingDirectory: "agent/bpf", Build: Build{"go generate ./...", "bpf2go", []string{aptSetup, aptInstall}}}
	golden(t, "workflow.yml", w.Text())
	w = Workflow{Config: "b.yml", Build: Committed()}
	var doc struct {
		Jobs struct {
			Bench struct {
				Steps []struct{ With map[string]any }
			}
		}
	}
	if err := yaml.Unmarshal([]byte(w.Text()), &doc); err != nil {
		t.Fatal(err)
	}
	if with := doc.Jobs.Bench.Steps[1].With; with["build"] != "true" || with["config"] != "b.yml" {
		t.Errorf("%v", with)
	}
}

func TestDetectBuild(t *testing.T) {
	const generate = "package a\n\n//go:generate go tool bpf2go bpf x.c\n"
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"a target", map[string]string{"Makefile": "CC := clang\nall: x\n.PHONY: bpf\nbpf: a.o b.o\n\tcc\n"}, "make bpf"},
		{"several targets", map[string]string{"Makefile": "ebpf bpf-objects:\n\ttrue\n", "Cargo.toml": ""}, "make ebpf"},
		{"a variable is not a target", map[string]string{"Makefile": "bpf := 1\nobjects ::= 2\n"}, ""},
		{"Aya", map[string]string{"Cargo.toml": "", "Makefile": "all:\n"}, "cargo build --release"},
		{"an older Aya", map[string]string{"Cargo.toml": "", "xtask/src/main.rs": "build_ebpf(opts)"}, "cargo xtask build-ebpf --release"},
		{"bpf2go", map[string]string{"Makefile": "all:\n", "cmd/a/gen.go": generate}, "go generate ./..."},
		{"bpf2go of others", map[string]string{"vendor/a/gen.go": generate, ".x/gen.go": generate, "node_modules/gen.go": generate}, ""},
		{"just make", map[string]string{"Makefile": "build: x\n"}, "make build"},
		{"nothing", map[string]string{"main.c": ""}, ""},
	} {
		fsys := fstest.MapFS{}
		for name, text := range c.files {
			fsys[name] = &fstest.MapFile{Data: []byte(text)}
		}
		b, ok := DetectBuild(fsys)
		if b.Command != c.want || ok != (c.want != "") || ok && b.Why == "" {
			t.Errorf("%s: %+v, %v, want %q", c.name, b, ok, c.want)
		}
	}
}
