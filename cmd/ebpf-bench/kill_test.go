package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"

	"github.com/org/ebpf-bench-action/cmd/ebpf-bench/internal/story"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

func tool(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), story.AsMain+"=1")
	return cmd
}

// However and whenever the tool is killed, it leaves nothing behind.
func TestKillLeavesNothing(t *testing.T) {
	testenv.Root(t)
	links, pins, stats := machine(t)
	t.Run("kill", func(t *testing.T) {
		for name, met := range map[string]func(holdings) bool{
			"a program":   func(h holdings) bool { return len(h.programs) > 0 },
			"a link":      func(h holdings) bool { return len(h.links) > 0 },
			"a child":     func(h holdings) bool { return len(h.processes) > 0 },
			"a namespace": func(h holdings) bool { return h.namespaces > 0 },
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				killAfter(t, 0, met)
			})
		}
		kills := 16
		if testing.Short() {
			kills = 2
		}
		for i := range kills {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				killAfter(t, time.Duration(rand.Int64N(int64(2*time.Second))), func(holdings) bool { return true })
			})
		}
	})
	linksAfter, pinsAfter, statsAfter := machine(t)
	if !slices.Equal(links, linksAfter) || !slices.Equal(pins, pinsAfter) || stats != statsAfter {
		t.Errorf("interfaces %v → %v, pins %v → %v, bpf_stats_enabled %s → %s", links, linksAfter, pins, pinsAfter, stats, statsAfter)
	}
}

// killAfter runs the bundled suite and kills it, after a while and once met accepts what
// the tool holds at that moment. All of that must be gone.
func killAfter(t *testing.T, wait time.Duration, met func(holdings) bool) {
	cmd := tool("run", "--budget", "100ms", "--loads", "2")
	cmd.Dir = t.TempDir()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(wait)
	var held holdings
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		// Stopped, the process cannot change its holdings while they are listed.
		if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		if held = holdingsOf(t, cmd.Process.Pid); met(held) {
			break
		}
		if time.Now().After(deadline) {
			t.Errorf("never met; it holds %+v", held)
			break
		}
		if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if left := held.waitGone(); !left.empty() {
		t.Errorf("a kill of what held %+v leaves %+v", held, left)
	}
}

// The first signal ends the run with the current round, saves the results, and sets the
// exit code for partial results.
func TestSignalKeepsPartialResults(t *testing.T) {
	testenv.Root(t)
	out := filepath.Join(t.TempDir(), "result.json")
	cmd := tool("run", "--filter", "fun_xdp/[a-z_]+$", "--budget", "60s", "--loads", "2", "--format", "json", "--out", out)
	var stdout, errors bytes.Buffer
	cmd.Stdout = &stdout
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "it takes about") {
			break
		}
	}
	time.Sleep(300 * time.Millisecond)
	held := holdingsOf(t, cmd.Process.Pid)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
		fmt.Fprintln(&errors, lines.Text())
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exit.NotMeasured {
		t.Errorf("exit code %d, want %d", code, exit.NotMeasured)
	}
	if !strings.Contains(errors.String(), "ebpf-bench: error: ended early: the results are partial") {
		t.Errorf("stderr does not say so:\n%s", &errors)
	}
	saved, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"stdout": stdout.Bytes(), "--out": saved} {
		run, err := bench.DecodeRun(bytes.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !run.Partial || len(run.Results) != 5 || run.Results[0].Rounds.Runs() == 0 {
			t.Errorf("%s: partial %v, %d results", name, run.Partial, len(run.Results))
		}
	}
	if left := held.waitGone(); !left.empty() {
		t.Errorf("left behind: %+v", left)
	}
}

// machine returns what a run could leave in the places that outlive a process.
func machine(t *testing.T) (interfaces, pins []string, stats string) {
	t.Helper()
	entries, err := os.ReadDir("/sys/class/net")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		interfaces = append(interfaces, e.Name())
	}
	// A namespace that is mounted somewhere also outlives its processes.
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mounts)) {
		if strings.HasPrefix(line, "nsfs ") {
			pins = append(pins, line)
		}
	}
	_ = filepath.WalkDir("/sys/fs/bpf", func(path string, _ fs.DirEntry, _ error) error {
		pins = append(pins, path)
		return nil
	})
	value, err := os.ReadFile("/proc/sys/kernel/bpf_stats_enabled")
	if err != nil {
		t.Fatal(err)
	}
	return interfaces, pins, strings.TrimSpace(string(value))
}

// holdings are what a process holds and its end must free, by kernel IDs. A namespace has
// no ID that is not soon reused: it is gone together with the programs attached in it.
type holdings struct {
	programs   []ebpf.ProgramID
	links      []link.ID
	processes  []int
	namespaces int
}

func (h *holdings) empty() bool {
	return len(h.programs)+len(h.links)+len(h.processes) == 0
}

func holdingsOf(t *testing.T, pid int) holdings {
	t.Helper()
	var h holdings
	infos, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fdinfo/*", pid))
	for _, info := range infos {
		text, _ := os.ReadFile(info)
		for line := range strings.Lines(string(text)) {
			key, value, _ := strings.Cut(line, ":")
			n, err := strconv.ParseUint(strings.TrimSpace(value), 10, 32)
			switch {
			case err != nil:
			case key == "prog_id":
				h.programs = append(h.programs, ebpf.ProgramID(n))
			case key == "link_id":
				h.links = append(h.links, link.ID(n))
			}
		}
	}
	own, _ := os.Readlink("/proc/self/ns/net")
	fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, fd := range fds {
		if target, _ := os.Readlink(fd); strings.HasPrefix(target, "net:") && target != own {
			h.namespaces++
		}
	}
	h.processes = descendants(pid)
	return h
}

// descendants returns the children of a process and theirs.
func descendants(pid int) []int {
	var all []int
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		// The name, in parentheses, may contain anything; the parent follows it.
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		child, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if len(fields) > 1 && fields[1] == strconv.Itoa(pid) {
			all = append(append(all, child), descendants(child)...)
		}
	}
	return all
}

// waitGone waits until the kernel has freed everything, which takes a while, and returns
// what is left.
func (h holdings) waitGone() holdings {
	for deadline := time.Now().Add(15 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		left := h.left()
		if left.empty() || time.Now().After(deadline) {
			return left
		}
	}
}

func (h holdings) left() holdings {
	var left holdings
	for _, id := range h.programs {
		if p, err := ebpf.NewProgramFromID(id); !errors.Is(err, os.ErrNotExist) {
			left.programs = append(left.programs, id)
			_ = p.Close()
		}
	}
	for _, id := range h.links {
		if l, err := link.NewFromID(id); !errors.Is(err, os.ErrNotExist) {
			left.links = append(left.links, id)
			if err == nil {
				_ = l.Close()
			}
		}
	}
	for _, pid := range h.processes {
		if syscall.Kill(pid, 0) == nil {
			left.processes = append(left.processes, pid)
		}
	}
	return left
}

// A profile that is killed leaves nothing attached. What it recorded runs on, as it does
// under any debugger.
func TestAProfileThatIsKilled(t *testing.T) {
	testenv.Root(t)
	_, pins, stats := machine(t)
	for _, what := range [][]string{{"--all"}, {"--", "sleep", "60"}} {
		cmd := tool(append([]string{"profile", "--events", "cpu,off-cpu,disk,faults"}, what...)...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		const programs = 6 // on_cpu, off_cpu, three of disks, and one of page faults at least
		var held holdings
		for deadline := time.Now().Add(time.Minute); len(held.programs) < programs || len(held.links) < programs-1; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("it holds just %+v", held)
			}
			held = holdingsOf(t, cmd.Process.Pid)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()                                      // it was killed
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what it recorded
		if left := held.waitGone(); !left.empty() {
			t.Errorf("profile %v: a kill leaves %+v", what, left)
		}
	}
	_, pinsAfter, statsAfter := machine(t)
	if !slices.Equal(pins, pinsAfter) || stats != statsAfter {
		t.Errorf("pins %v → %v, bpf_stats_enabled %s → %s", pins, pinsAfter, stats, statsAfter)
	}
}
