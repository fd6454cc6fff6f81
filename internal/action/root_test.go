package action

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/kernel"
	"github.com/org/ebpf-bench-action/internal/kernel/kerneltest"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

// standIn makes a sudo that passes on no environment, and a tool that writes down how it
// was started and then runs a script.
func standIn(t *testing.T, script string) (dir string, self func() (string, error)) {
	t.Helper()
	dir = t.TempDir()
	tool := filepath.Join(dir, "a tool")
	for name, text := range map[string]string{
		"sudo":   "#!/bin/sh\n[ \"$1 $2 $3\" = '-n -- env' ] || exit 99\nshift 3\nexec env -i PATH=/usr/bin:/bin \"$@\"\n",
		"a tool": fmt.Sprintf("#!/bin/sh\nenv >'%s/env'\nprintf '%%s\\n' \"$@\" >'%s/args'\n%s\n", dir, dir, script),
	} {
		testenv.Write(t, filepath.Join(dir, name), []byte(text))
		if err := os.Chmod(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return dir, func() (string, error) { return tool, nil }
}

func readString(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestNeedsRoot(t *testing.T) {
	denied := func() error { return unix.EACCES }
	absent := func() error { return unix.ENOENT }
	for _, c := range []struct {
		mode string
		may  privileges
		want bool
	}{
		{"host", privileges{}, true},
		{"host", privileges{root: true}, false},
		{"kvm", privileges{kvm: denied}, true},
		{"kvm", privileges{kvm: absent}, false}, // exact mode takes its place
		{"kvm", privileges{kvm: func() error { return nil }}, false},
		{"exact", privileges{host: func() error { return fs.ErrPermission }, kvm: denied}, false},
	} {
		s := &measurer{planned{step: &step{in: &inputs{mode: c.mode}}}, c.may}
		if got := s.needsRoot(); got != c.want {
			t.Errorf("%s: %v, want %v", c.mode, got, c.want)
		}
	}
}

// Root gets the inputs and the variables that identify the run, and no secret. Its exit
// code is the step's.
func TestAsRoot(t *testing.T) {
	dir, self := standIn(t, "exit $(cat \"$(dirname \"$0\")/code\")")
	for name, value := range map[string]string{
		"EBPF_BENCH_BUILD": "make a  b", "EBPF_BENCH_STATE": "/a state", "GITHUB_ACTIONS": "true", "GITHUB_SHA": "abc",
		"GITHUB_TOKEN": "secret", "ACTIONS_RUNTIME_TOKEN": "secret", "AWS_KEY": "secret", "PATHS": "secret", "XDG_CACHE_HOME": "/a cache",
	} {
		t.Setenv(name, value)
	}
	for code, want := range map[int]int{0: exit.Pass, 2: exit.WrongUsage, 3: exit.NotMeasured, 1: exit.NotMeasured, 126: exit.NotMeasured} {
		testenv.Write(t, filepath.Join(dir, "code"), fmt.Append(nil, code))
		var said bytes.Buffer
		s := &measurer{planned{step: &step{Options: logTo(&said), in: &inputs{mode: "host"}}}, privileges{self: self}}
		err := s.asRoot(t.Context())
		if got := exit.CodeOf(err); got != want {
			t.Errorf("%d became %d: %v", code, got, err)
		}
		// The tool's own messages are not printed again.
		s.complain(err)
		if again := said.String(); (again == "") != (code == 0 || code == 2 || code == 3) {
			t.Errorf("%d: it says %q", code, again)
		}
	}
	if args := readString(t, filepath.Join(dir, "args")); args != "action\nmeasure\n" {
		t.Errorf("arguments %q", args)
	}
	environ := readString(t, filepath.Join(dir, "env"))
	for _, want := range []string{"EBPF_BENCH_BUILD=make a  b", "EBPF_BENCH_STATE=/a state", "GITHUB_ACTIONS=true", "GITHUB_SHA=abc", "XDG_CACHE_HOME=/a cache", "PATH=" + os.Getenv("PATH")} {
		if !strings.Contains("\n"+environ, "\n"+want+"\n") {
			t.Errorf("%s is not handed on: %s", want, environ)
		}
	}
	if strings.Contains(environ, "secret") {
		t.Errorf("it has a secret: %s", environ)
	}
}

func TestAsRootWithoutSudo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	s := &measurer{planned{step: &step{Options: logTo(io.Discard), in: &inputs{mode: "host"}}}, privileges{self: os.Executable}}
	if err := s.asRoot(t.Context()); exit.CodeOf(err) != exit.NotMeasured || err.Error() != "measuring takes root here, and no sudo" {
		t.Errorf("%v", err)
	}
}

// If only root can read the machine's kernel, root copies it, and does nothing else.
func TestBringHost(t *testing.T) {
	testenv.Plain(t)
	if !kerneltest.CanBoot(t) {
		t.Skip("needs a kernel, see make kernels")
	}
	kernels, err := kernel.OpenCache("")
	if err != nil {
		t.Fatal(err)
	}
	packed, err := kernels.Path("6.12")
	if err != nil {
		t.Fatal(err)
	}
	dir, self := standIn(t, "cp '"+packed+"' \"$7\" && [ \"$6\" = --out ]")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("EBPF_BENCH_CONFIG", "secret")
	locked := func() error { return fmt.Errorf("read it: %w", fs.ErrPermission) }
	stepOf := func(in inputs, may privileges) *measurer {
		may.self = self
		return &measurer{planned{step: &step{Options: logTo(io.Discard), in: &in, state: state(t.TempDir())}}, may}
	}
	for what, s := range map[string]*measurer{
		"root":             stepOf(inputs{mode: "exact"}, privileges{root: true}),
		"it is readable":   stepOf(inputs{mode: "exact", kernels: "host"}, privileges{host: func() error { return nil }}),
		"there is none":    stepOf(inputs{mode: "exact", kernels: "host"}, privileges{host: func() error { return fs.ErrNotExist }}),
		"another kernel":   stepOf(inputs{mode: "exact"}, privileges{host: locked}),
		"not in a machine": stepOf(inputs{mode: "host"}, privileges{host: locked}),
	} {
		if err := s.bringHost(t.Context()); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "args")); err == nil {
			t.Fatalf("%s: root is asked", what)
		}
	}
	t.Chdir(t.TempDir())
	s := stepOf(inputs{mode: "exact", kernels: "host"}, privileges{host: locked})
	if err := s.bringHost(t.Context()); err != nil {
		t.Fatal(err)
	}
	if args := readString(t, filepath.Join(dir, "args")); !strings.HasPrefix(args, "kernel\npack\nhost\n--cache\n") {
		t.Errorf("root runs %q", args)
	}
	if environ := readString(t, filepath.Join(dir, "env")); strings.Contains(environ, "secret") {
		t.Errorf("root has %q", environ)
	}
	cache, err := kernel.OpenCache("")
	if err != nil {
		t.Fatal(err)
	}
	if all, err := cache.List(); err != nil || len(all) != 1 || all[0].Release == "" {
		t.Errorf("the user's cache has %+v, %v", all, err)
	}
	if left, _ := os.ReadDir(string(s.state)); len(left) > 0 {
		t.Errorf("it leaves %v", left)
	}
	// If root cannot read it either, nothing is measured.
	_, failing := standIn(t, "exit 3")
	s.may.self = failing
	if err := s.bringHost(t.Context()); exit.CodeOf(err) != exit.NotMeasured {
		t.Errorf("%v", err)
	}
}
