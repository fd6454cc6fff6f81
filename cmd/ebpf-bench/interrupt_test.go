package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

// A signal ends a slice in progress, however long that would take, and its processes.
// Nothing is left behind, and the benchmark has not failed.
func TestSignalEndsASliceUnderWay(t *testing.T) {
	testenv.Root(t)
	object, err := os.ReadFile("../../runner/testdata/hooks.o")
	if err != nil {
		t.Fatal(err)
	}
	for name, command := range map[string]string{
		"command": `{run: [sh, -c, 'touch started; sleep 1000 & sleep 1000'], timeout: 1h}`,
		"stopped": `{run: [sh, -c, 'kill -STOP $PPID; touch started; sleep 1000'], timeout: 1h}`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			suite := "version: 1\nobjects: [hooks.o]\nbenchmarks:\n  - {name: slow, program: tracepoint, command: " + command + "}\n"
			for file, data := range map[string][]byte{"hooks.o": object, "suite.yml": []byte(suite)} {
				if err := os.WriteFile(filepath.Join(dir, file), data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			cmd := tool("run", "--out", "result.json", "suite.yml")
			cmd.Dir = dir
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
				if _, err := os.Stat(filepath.Join(dir, "started")); err == nil {
					break
				}
				if time.Now().After(deadline) {
					t.Fatal("the command was never run")
				}
			}
			held := holdingsOf(t, cmd.Process.Pid)
			if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			// This is far less than the command would take.
			late := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
			_ = cmd.Wait()
			if !late.Stop() {
				t.Fatal("it went on after the signal")
			}
			if code := cmd.ProcessState.ExitCode(); code != exit.NotMeasured {
				t.Errorf("exit code %d, want %d", code, exit.NotMeasured)
			}
			if text := stderr.String(); !strings.Contains(text, "ebpf-bench: error: ended early: the results are partial") || strings.Contains(text, "failed") {
				t.Errorf("stderr:\n%s", text)
			}
			saved, err := os.Open(filepath.Join(dir, "result.json"))
			if err != nil {
				t.Fatal(err)
			}
			defer saved.Close()
			run, err := bench.DecodeRun(saved)
			if err != nil {
				t.Fatal(err)
			}
			if !run.Partial || len(run.Results) != 1 || run.Results[0].Error != "" {
				t.Errorf("partial %v, results %+v", run.Partial, run.Results)
			}
			if left := held.waitGone(); !left.empty() {
				t.Errorf("left behind: %+v", left)
			}
		})
	}
}

// A comparison that a signal ends names the benchmarks that it did not reach.
func TestSignalEndsAComparison(t *testing.T) {
	testenv.Root(t)
	object, err := filepath.Abs("../../programs/fun_xdp/fun_xdp_bpfel.o")
	if err != nil {
		t.Fatal(err)
	}
	for wait := 100 * time.Millisecond; ; wait *= 4 {
		said := interrupted(t, wait, "compare", "--budget", "1h", "--out", filepath.Join(t.TempDir(), "result.json"), object, object)
		if strings.HasSuffix(said, "error: interrupted\n") && wait < time.Minute {
			continue // before it began
		}
		if !strings.Contains(said, "error: ended early: the comparison is partial\n") || !regexp.MustCompile(`error: not compared: .*fun_xdp_fizz, fun_xdp_fizzbuzz\n`).MatchString(said) {
			t.Errorf("stderr:\n%s", said)
		}
		return
	}
}

// interrupted returns what the tool wrote to stderr until it ended by a signal, which it got
// some time after its first line.
func interrupted(t *testing.T, wait time.Duration, args ...string) string {
	t.Helper()
	cmd := tool(args...)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	cmd.Stderr = write
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	defer time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() }).Stop()
	stderr := bufio.NewReader(read)
	said, _ := stderr.ReadString('\n')
	time.Sleep(wait)
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(stderr)
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exit.NotMeasured {
		t.Errorf("exit code %d, want %d", code, exit.NotMeasured)
	}
	return said + string(rest)
}

// A command that waits for its input ends when it is interrupted, and says that it was.
func TestSignalEndsReading(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"compare", "pipe", "pipe"},
		{"explain", "pipe"},
		{"merge", "pipe"},
		{"ingest", "pipe"},
		{"baseline", "save", "pipe"},
		{"baseline", "import", "pipe"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			// The tool opens the pipe before anything is written to it.
			writer, err := os.OpenFile(pipe, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer writer.Close()
			cmd := tool(args...)
			cmd.Dir = dir
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for deadline := time.Now().Add(time.Minute); !reads(t, cmd.Process.Pid, pipe); time.Sleep(10 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("the pipe was never opened")
				}
			}
			if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			late := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
			defer late.Stop()
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != exit.NotMeasured {
				t.Errorf("exit code %d, want %d", code, exit.NotMeasured)
			}
			if got := stderr.String(); !strings.HasPrefix(got, "ebpf-bench: error: ") || !strings.HasSuffix(got, ": interrupted\n") {
				t.Errorf("stderr %q", got)
			}
		})
	}
}

// A second signal ends a command that the first one could not, such as one whose output
// nobody reads.
func TestSecondSignalEndsAtOnce(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	size, err := unix.FcntlInt(write.Fd(), unix.F_GETPIPE_SZ, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := write.Write(make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	cmd := tool("schema", "suite")
	cmd.Stdout = write
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	defer time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() }).Stop()
	for deadline := time.Now().Add(20 * time.Second); !writes(cmd.Process.Pid); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nothing was ever written")
		}
	}
	signals := 0
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	for alive := true; alive; {
		if err := cmd.Process.Signal(syscall.SIGINT); err == nil {
			signals++
		}
		select {
		case <-ended:
			alive = false
		case <-time.After(time.Second):
		}
	}
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != syscall.SIGINT || signals != 2 {
		t.Errorf("%d signals: %v", signals, cmd.ProcessState)
	}
}

// writes reports whether a thread of a process waits for a reader of its pipe.
func writes(pid int) bool {
	waits, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/wchan", pid))
	return slices.ContainsFunc(waits, func(name string) bool {
		where, err := os.ReadFile(name)
		return err == nil && strings.Contains(string(where), "pipe_write")
	})
}

// reads reports whether a process has a file open.
func reads(t *testing.T, pid int, name string) bool {
	t.Helper()
	open, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(open, func(fd string) bool {
		target, err := os.Readlink(fd)
		return err == nil && target == name
	})
}
