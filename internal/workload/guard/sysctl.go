// Package guard changes the machine for as long as the tool runs: helpers undo
// changes of settings, and remove control groups, however the tool ends.
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

const restoreSettingMode = "restore-setting"

func init() { process.RegisterHelper(restoreSettingMode, restoreSetting) }

// Guard holds a setting at a value until it is closed or the tool ends.
//
// Guards do not know each other: if two tools hold the same setting, the one
// that set it takes it from the other when it ends.
type Guard struct {
	helper *helper // nil when there is nothing to restore
}

// Sysctl sets the sysctl name, such as kernel.bpf_stats_enabled, and makes a
// helper restore it however the tool ends. It does nothing if the sysctl has
// the value already.
func Sysctl(name, value string) (*Guard, error) {
	g, err := hold(filepath.Join("/proc/sys", strings.ReplaceAll(name, ".", "/")), value)
	if err != nil {
		return nil, fmt.Errorf("sysctl %s: %w", name, err)
	}
	return g, nil
}

// ShortGracePeriods makes the kernel expedite the grace periods of RCU, which loading,
// attaching and detaching programs wait for: some 100 µs each instead of some 10 ms.
func ShortGracePeriods() (*Guard, error) {
	g, err := hold(expedited, "1")
	if err != nil {
		return nil, fmt.Errorf("expedite grace periods: %w", err)
	}
	return g, nil
}

const expedited = "/sys/kernel/rcu_expedited"

// hold sets the file of a setting.
func hold(path, value string) (*Guard, error) {
	old, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	if strings.TrimSpace(string(old)) == value {
		return &Guard{}, nil
	}

	g := &Guard{newHelper(restoreSettingMode, path, string(old))}
	if err := g.helper.start(); err != nil {
		return nil, fmt.Errorf("guard: %w", err)
	}
	if err := os.WriteFile(path, []byte(value), 0); err != nil {
		return nil, errors.Join(fmt.Errorf("set: %w", err), g.Close())
	}
	return g, nil
}

// Close restores the setting. It may be called more than once.
func (g *Guard) Close() error {
	if g.helper == nil {
		return nil
	}
	helper := g.helper
	g.helper = nil
	if err := helper.end(); err != nil {
		return fmt.Errorf("restore a setting: %w", err)
	}
	return nil
}

// restoreSetting writes a value to the file of a setting once the tool has closed
// the other end of standard input, which ending does, too.
func restoreSetting(args []string) error {
	if len(args) != 2 {
		return errors.New("expected a path and a value")
	}
	signal.Ignore(unix.SIGHUP, unix.SIGINT, unix.SIGTERM)
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return os.WriteFile(args[0], []byte(args[1]), 0)
}
