// Package guard changes the machine for as long as the tool runs: helpers undo
// changes of sysctls, and remove control groups, however the tool ends.
package guard

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/workload/process"
)

const restoreSysctlMode = "restore-sysctl"

func init() { process.RegisterHelper(restoreSysctlMode, restoreSysctl) }

// Guard holds a sysctl at a value until it is closed or the tool ends.
//
// Guards do not know each other: if two tools hold the same sysctl, the one
// that set it takes it from the other when it ends.
type Guard struct {
	helper *helper // nil when there is nothing to restore
}

// Sysctl sets the sysctl name, such as kernel.bpf_stats_enabled, and makes a
// helper restore it however the tool ends. It does nothing if the sysctl has
// the value already.
func Sysctl(name, value string) (*Guard, error) {
	path := filepath.Join("/proc/sys", strings.ReplaceAll(name, ".", "/"))
	old, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read sysctl %s: %w", name, err)
	}
	if strings.TrimSpace(string(old)) == value {
		return &Guard{}, nil
	}

	g := &Guard{newHelper(restoreSysctlMode, path, string(old))}
	if err := g.helper.start(); err != nil {
		return nil, fmt.Errorf("guard sysctl %s: %w", name, err)
	}
	if err := os.WriteFile(path, []byte(value), 0); err != nil {
		return nil, errors.Join(fmt.Errorf("set sysctl %s: %w", name, err), g.Close())
	}
	return g, nil
}

// Close restores the sysctl. It may be called more than once.
func (g *Guard) Close() error {
	if g.helper == nil {
		return nil
	}
	helper := g.helper
	g.helper = nil
	if err := helper.end(); err != nil {
		return fmt.Errorf("restore sysctl: %w", err)
	}
	return nil
}

// restoreSysctl writes a value to the file of a sysctl once the tool has closed
// the other end of standard input, which ending does, too.
func restoreSysctl(args []string) error {
	if len(args) != 2 {
		return errors.New("expected a path and a value")
	}
	signal.Ignore(unix.SIGHUP, unix.SIGINT, unix.SIGTERM)
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return os.WriteFile(args[0], []byte(args[1]), 0)
}
