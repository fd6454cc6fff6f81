package action

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/fleet"
	"github.com/org/ebpf-bench-action/internal/github"
	"github.com/org/ebpf-bench-action/internal/kernel"
)

// privileges is what the user may do on this machine.
type privileges struct {
	root bool
	// host returns why the user cannot read the running kernel; kvm, why they cannot use
	// KVM.
	host, kvm func() error
	// self returns the path of this program, for root to start.
	self func() (string, error)
}

func ownPrivileges() privileges {
	return privileges{
		root: os.Geteuid() == 0,
		host: func() error {
			_, err := kernel.FromHost()
			return err
		},
		kvm:  func() error { return unix.Access("/dev/kvm", unix.R_OK|unix.W_OK) },
		self: os.Executable,
	}
}

// needsRoot reports whether measuring needs root here: to load programs on this machine,
// or to use KVM if only root may. Exact mode never does.
func (m *measurer) needsRoot() bool {
	switch {
	case m.may.root:
		return false
	case m.in.mode == "kvm":
		return errors.Is(m.may.kvm(), unix.EACCES)
	}
	return m.in.mode == "host"
}

// asRoot runs this step again as root.
func (m *measurer) asRoot(ctx context.Context) error {
	environ := github.Handed(os.Environ())
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(entry, inputPrefix) || slices.Contains([]string{"PATH", "TERM", "NO_COLOR"}, name) {
			environ = append(environ, entry)
		}
	}
	if cache, err := os.UserCacheDir(); err == nil {
		environ = append(environ, "XDG_CACHE_HOME="+cache)
	}
	return m.sudo(ctx, "measuring takes root here", environ, "action", "measure")
}

// sudo runs this tool as root, for the reason why. sudo may pass on no environment, so the
// variables that it needs are on the command line; none is secret.
func (m *measurer) sudo(ctx context.Context, why string, environ []string, args ...string) error {
	sudo, err := exec.LookPath("sudo")
	if err != nil {
		return exit.NoMeasure(fmt.Errorf("%s, and no sudo", why))
	}
	self, err := m.may.self()
	if err != nil {
		return exit.NoMeasure(err)
	}
	cmd := exec.CommandContext(ctx, sudo, slices.Concat([]string{"-n", "--", "env"}, environ, []string{self}, args)...)
	cmd.Stdout, cmd.Stderr = m.Stdout, m.Stderr
	err = cmd.Run()
	var ended *exec.ExitError
	switch {
	case !errors.As(err, &ended):
		return exit.NoMeasure(err)
	case ended.ExitCode() == exit.WrongUsage || ended.ExitCode() == exit.NotMeasured:
		return exit.Said(ended.ExitCode())
	}
	return exit.NoMeasure(fmt.Errorf("%s, and sudo ended with %w", why, ended))
}

// bringHost has root copy the kernel of this machine into the user's cache, if it will be
// measured on and the distribution lets only root read it. Root does nothing else: the
// user measures.
func (m *measurer) bringHost(ctx context.Context) error {
	machines, err := m.in.machines()
	if m.may.root || err != nil {
		return nil // whoever measures reports this error
	}
	suite, err := m.in.outline()
	if err != nil {
		return nil // whoever reads the suite reports this error
	}
	if !slices.Contains(machines.Choose(suite.Kernels), fleet.Host) {
		return nil
	}
	if !errors.Is(m.may.host(), os.ErrPermission) {
		return nil
	}
	dir, err := os.MkdirTemp(string(m.state), "host")
	if err != nil {
		return exit.NoMeasure(err)
	}
	defer os.RemoveAll(dir)
	const why = "this machine's kernel is for root alone to read"
	packed := filepath.Join(dir, "host.tar.zst")
	if err := m.sudo(ctx, why, nil, "kernel", "pack", "host", "--cache", filepath.Join(dir, "cache"), "--out", packed); err != nil {
		return bench.WithHint(err, "name kernels to measure on by the input kernels, such as 6.12, or by kernels: in the suite")
	}
	k, err := kernel.FromPack(packed)
	if err != nil {
		return exit.NoMeasure(err)
	}
	cache, err := kernel.OpenCache("")
	if err != nil {
		return exit.NoMeasure(err)
	}
	if _, err := cache.Add(k); err != nil {
		return exit.NoMeasure(fmt.Errorf("keep this machine's kernel: %w", err))
	}
	m.tell("%s, so sudo copied it; all else runs without root", why)
	return nil
}
