// Command program-types measures a program for each section name that libbpf knows, on
// this host and on other kernels, each with the default driver for it, and prints as
// Markdown which are measured, and why the others are not.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/object"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/programs/sections"
	"github.com/org/ebpf-bench-action/runner"
)

func main() {
	bin := flag.String("bin", "./ebpf-bench", "the binary, with symbols: probes in user space are attached to it")
	kernels := flag.String("kernels", "5.10,6.1,6.12,7.2", "the kernels beside the host's, separated by commas")
	flag.Parse()
	if err := run(*bin, *kernels); err != nil {
		fmt.Fprintln(os.Stderr, "program-types:", err)
		os.Exit(1)
	}
}

func run(bin, kernels string) error {
	dir, err := os.MkdirTemp("", "program-types-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary, err := os.ReadFile(bin)
	if err != nil {
		return err
	}
	if err := errors.Join(os.WriteFile(filepath.Join(dir, target), binary, 0o755), os.WriteFile(filepath.Join(dir, "o.o"), sections.Object(), 0o600)); err != nil {
		return err
	}
	t, benchmarks, err := plan(dir)
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "types.yml")
	if err := os.WriteFile(file, []byte(head+strings.Join(benchmarks, "")), 0o600); err != nil {
		return err
	}
	for _, args := range [][]string{{"--vm", "off"}, {"--kernel", kernels, "--vm-memory", "512"}} {
		runs, err := measure(bin, append(args, "--rounds", "4", "--loads", "1", "--seed", "1", file))
		if err != nil {
			return err
		}
		t.runs = append(t.runs, runs...)
	}
	return t.print(os.Stdout)
}

const (
	head = "version: 1\nobjects: [o.o]\nbenchmarks:\n"
	// target is the program that user-space probes are attached to, a copy of the tool
	// itself: each start of it runs userCode once.
	target   = "ebpf-bench"
	userCode = "runtime.schedinit"
)

// plan finds the sections whose programs are measured on no kernel, and makes a benchmark
// for each of the others.
func plan(dir string) (t table, benchmarks []string, err error) {
	o, err := object.Parse(sections.Object())
	if err != nil {
		return t, nil, err
	}
	t.unplanned = map[string]string{}
	for _, program := range o.Programs() {
		section := o.Entry(program).SectionName
		t.rows = append(t.rows, row{section, program})
		hook := ""
		if strings.HasPrefix(section, "uprobe") || strings.HasPrefix(section, "uretprobe") {
			hook = fmt.Sprintf(", command: {attach: %q, run: [./%s, version]}", section+"/./"+target+":"+userCode, target)
		}
		benchmark := fmt.Sprintf("  - {name: %q, program: %s%s}\n", section, program, hook)
		file := filepath.Join(dir, "one.yml")
		if err := os.WriteFile(file, []byte(head+benchmark), 0o600); err != nil {
			return t, nil, err
		}
		s, err := suite.Load(suite.OS, file)
		if err != nil {
			return t, nil, err
		}
		if _, err := runner.NewPlan(s); err != nil {
			t.unplanned[section] = strings.TrimPrefix(err.Error(), fmt.Sprintf("%s:4: benchmark %q: ", file, section))
			continue
		}
		benchmarks = append(benchmarks, benchmark)
	}
	slices.SortFunc(t.rows, func(a, b row) int { return strings.Compare(a.section, b.section) })
	return t, benchmarks, nil
}

// measure runs the tool. Benchmarks that fail are not an error.
func measure(bin string, args []string) ([]*bench.Run, error) {
	cmd := exec.Command(bin, append([]string{"run", "--format", "json"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	var ended *exec.ExitError
	if err != nil && (!errors.As(err, &ended) || len(out) == 0) {
		return nil, err
	}
	return bench.DecodeRuns(bytes.NewReader(out))
}
