// Vmtest runs the tests of a package on another kernel, in a virtual machine:
//
//	CGO_ENABLED=0 go test -exec 'vmtest -kernel 6.1' ./internal/insn
//
// The guest has the test binary and the files of its package's folder, at the
// same path, and nothing else. There is one CPU, and its clock counts
// instructions.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/kernel"
	"github.com/org/ebpf-bench-action/internal/vm"
)

// inGuest is the first argument of the command in the guest.
const inGuest = "in-guest"

func main() {
	vm.Main()
	if len(os.Args) > 2 && os.Args[1] == inGuest {
		os.Exit(test(os.Args[2], os.Args[3:]))
	}
	release := flag.String("kernel", "6.12", "the kernel, as ebpf-bench run --kernel takes it")
	memory := flag.Int("memory", 2048, "the guest's memory, in MiB")
	files := flag.String("files", "", "a glob of further files that the guest is to have")
	env := flag.String("env", "", "variables for the test, as KEY=VALUE, separated by blanks")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: go test -exec 'vmtest -kernel 6.1' PACKAGE")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, *release, *memory, *files, strings.Fields(*env), flag.Args())
	var exit *vm.ExitError
	switch {
	case errors.As(err, &exit):
		os.Exit(exit.Code)
	case err != nil:
		fmt.Fprintln(os.Stderr, "vmtest: error:", err)
		if hint := bench.Hint(err); hint != "" {
			fmt.Fprintln(os.Stderr, "vmtest: hint:", hint)
		}
		os.Exit(1)
	}
}

// test runs the test in the guest.
func test(binary string, args []string) int {
	cmd := exec.Command(binary, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return exit.ExitCode()
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func run(ctx context.Context, release string, memory int, extra string, env, command []string) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	const binary = "/test"
	files := map[string][]byte{}
	if files[binary], err = os.ReadFile(command[0]); err != nil {
		return err
	}
	files[filepath.Join(dir, ".vmtest")] = nil // or there might be no such folder
	if err := addFolder(files, dir); err != nil {
		return err
	}
	more, err := filepath.Glob(extra)
	if err != nil {
		return err
	}
	for _, name := range more {
		if name, err = filepath.Abs(name); err != nil {
			return err
		}
		if files[name], err = os.ReadFile(name); err != nil {
			return err
		}
	}
	cmd := &vm.Cmd{
		Mode: vm.Exact, Memory: memory, Dir: dir, Files: files, Env: append([]string{"TMPDIR=/tmp"}, env...),
		Args:   append([]string{inGuest, binary}, inFolder(command[1:])...),
		Stdout: os.Stdout, Stderr: os.Stderr,
	}
	if err := boots(ctx, cmd, release); err != nil {
		return err
	}
	var console bytes.Buffer
	cmd.Console = &console
	err = cmd.Run(ctx)
	var fault *vm.Fault
	if errors.As(err, &fault) {
		_, _ = os.Stderr.Write(console.Bytes())
	}
	return err
}

// boots gives the command its kernel.
func boots(ctx context.Context, cmd *vm.Cmd, release string) error {
	dir, err := kernel.DefaultCacheDir()
	if err != nil {
		return err
	}
	cache, err := kernel.OpenCache(dir)
	if err != nil {
		return err
	}
	k, err := cache.Resolve(ctx, release)
	if err != nil {
		return err
	}
	if cmd.Image, err = k.BootFile(""); err != nil {
		return err
	}
	modules, _, err := k.Modules("veth", "dummy", "sch_ingress", "cls_bpf", "act_bpf")
	for _, m := range modules {
		cmd.Modules = append(cmd.Modules, vm.Module(m))
	}
	return err
}

// addFolder adds the regular files below a folder, but no Go source.
func addFolder(files map[string][]byte, dir string) error {
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || filepath.Ext(name) == ".go" {
			return err
		}
		files[name], err = os.ReadFile(name)
		return err
	})
}

// inFolder leaves out the arguments by which go test names files of the host.
func inFolder(args []string) []string {
	var kept []string
	for _, a := range args {
		if !strings.HasPrefix(a, "-test.testlogfile=") {
			kept = append(kept, a)
		}
	}
	return kept
}
