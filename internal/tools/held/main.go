// Held runs a command and fails if this machine's kernel held more BPF programs
// than a limit at any moment meanwhile:
//
//	held 400 make test
//
// Linux 6.18 can stop loading for good when very many are freed at once.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/cilium/ebpf"
)

// every is how often to count.
const every = 10 * time.Millisecond

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: held LIMIT COMMAND...")
		os.Exit(2)
	}
	limit, err := strconv.Atoi(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "held:", err)
		os.Exit(2)
	}
	os.Exit(watch(limit, exec.Command(os.Args[2], os.Args[3:]...)))
}

// watch runs the command and returns its exit code, or 1 if the kernel held too
// many programs.
func watch(limit int, cmd *exec.Cmd) int {
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "held:", err)
		return 1
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	most, uncounted := 0, ""
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		n, err := held()
		if err != nil && uncounted == "" {
			uncounted = "not counted: " + err.Error()
		}
		most = max(most, n)
		select {
		case err := <-done:
			return report(most, limit, uncounted, err)
		case <-tick.C:
		}
	}
}

func report(most, limit int, uncounted string, err error) int {
	switch {
	case uncounted != "":
		fmt.Printf("programs in the kernel: %s\n", uncounted)
	default:
		fmt.Printf("the kernel held at most %d programs at once; the limit is %d\n", most, limit)
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return exit.ExitCode()
	case err != nil:
		fmt.Fprintln(os.Stderr, "held:", err)
		return 1
	case most > limit:
		fmt.Fprintln(os.Stderr, "held: that is too many: a test that loads by the hundred runs in a virtual machine; see testenv.Guest")
		return 1
	}
	return 0
}

// held returns how many programs have an ID.
func held() (n int, err error) {
	id := ebpf.ProgramID(0)
	for {
		id, err = ebpf.ProgramGetNextID(id)
		switch {
		case errors.Is(err, os.ErrNotExist):
			return n, nil
		case err != nil:
			return n, err
		}
		n++
	}
}
