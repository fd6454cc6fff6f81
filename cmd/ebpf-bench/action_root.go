package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/suite"
)

// needsRoot tells whether what is to be measured takes root here: to load
// programs on this machine, to read its kernel where the distribution lets nobody
// else, and to use KVM where it is root's.
func (s *actionStep) needsRoot() bool {
	if os.Geteuid() == 0 {
		return false
	}
	if s.in.mode == "host" {
		return true
	}
	if s.in.mode == "kvm" && errors.Is(unix.Access("/dev/kvm", unix.R_OK|unix.W_OK), unix.EACCES) {
		return true
	}
	var f machineFlags
	if s.in.machines(&f) != nil {
		return false
	}
	return slices.Contains(f.choose(s.suiteKernels()), "host") && hostUnreadable()
}

// suiteKernels are the kernels that the suite asks for, none where it cannot be
// read, which is said when it is.
func (s *actionStep) suiteKernels() []string {
	for _, name := range s.suiteNames() {
		if _, err := os.Stat(name); err == nil {
			if loaded, err := suite.Load(suite.OS, name); err == nil {
				return loaded.Kernels
			}
		}
	}
	return nil
}

// handed are the variables, beside the inputs, that measuring as root takes.
var handed = []string{"GITHUB_ACTIONS=", "GITHUB_REPOSITORY=", "GITHUB_EVENT_NAME=", "GITHUB_EVENT_PATH=", "GITHUB_SHA=", "GITHUB_REF_NAME=", "PATH=", "TERM=", "NO_COLOR="}

// asRoot calls this step again as root. sudo may hand on no environment, so
// what it takes stands on the command line; there is no secret in it.
func (s *actionStep) asRoot(ctx context.Context) error {
	sudo, err := exec.LookPath("sudo")
	if err != nil {
		return noMeasure(errors.New("measuring takes root here, and there is no sudo"))
	}
	self, err := os.Executable()
	if err != nil {
		return noMeasure(err)
	}
	args := []string{"-n", "--", "env"}
	for _, entry := range os.Environ() {
		if strings.HasPrefix(entry, inputPrefix) || slices.ContainsFunc(handed, func(name string) bool { return strings.HasPrefix(entry, name) }) {
			args = append(args, entry)
		}
	}
	if cache, err := os.UserCacheDir(); err == nil {
		args = append(args, "XDG_CACHE_HOME="+cache)
	}
	cmd := exec.CommandContext(ctx, sudo, append(args, self, "action", "measure")...)
	cmd.Stdout, cmd.Stderr = s.t.stdout, s.t.stderr
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case !errors.As(err, &exit):
		return noMeasure(err)
	case exit.ExitCode() == exitUsage || exit.ExitCode() == exitNoMeasure:
		return alreadySaid(exit.ExitCode())
	}
	return noMeasure(fmt.Errorf("measuring takes root here, and sudo ended with %w", exit))
}
