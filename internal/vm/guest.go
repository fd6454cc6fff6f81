package vm

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// If this process is the first one of a guest, Main runs it as that and never
// returns. Call Main before anything else.
//
// Being process 1 is not enough: a container has one, too.
func Main() {
	if os.Getpid() != 1 || os.Getenv(guestEnv) == "" {
		return
	}
	if err := runGuest(); err != nil {
		// This goes to the console, and from there into the verdict.
		fmt.Fprintln(os.Stderr, "ebpf-bench:", err)
	}
	restart()
}

// runGuest sets up the guest, runs the command, and reports. It returns only
// errors that it could not report.
func runGuest() error {
	config, err := readConfig()
	if err != nil {
		return err
	}
	warnings, err := mountAll()
	if err != nil {
		return err
	}
	p, err := openPort()
	if err != nil {
		return err
	}
	warnings = append(warnings, loadModules(config.Modules)...)
	settleClock()
	if err := p.send(frameHello, introduce(warnings)); err != nil {
		return err
	}
	go p.beat()
	if err := p.send(frameExit, runCommand(config, p)); err != nil {
		return err
	}
	return p.drain()
}

func readConfig() (*guestConfig, error) {
	text, err := os.ReadFile(configPath)
	if err != nil {
		return nil, fmt.Errorf("read config: %w", err)
	}
	var config guestConfig
	if err := json.Unmarshal(text, &config); err != nil {
		return nil, fmt.Errorf("read %s: %w", configPath, err)
	}
	return &config, nil
}

// restart ends the machine: QEMU does not let it restart. Powering it off would
// require ACPI.
func restart() {
	_ = unix.Reboot(unix.LINUX_REBOOT_CMD_RESTART)
	select {} // the first process must not end before
}

// heartbeat is how often the guest says that it is alive, by its own clock.
const heartbeat = 200 * time.Millisecond

func (p *port) beat() {
	for range time.Tick(heartbeat) {
		if p.send(frameHeartbeat, nil) != nil {
			return // the host finds out
		}
	}
}

// resultsFD is the file to which a command in a guest reports its results.
// resultsEnv says that it exists.
const (
	resultsFD  = 3
	resultsEnv = "EBPF_BENCH_RESULTS"
)

// Results returns the writer to which a command in a guest reports its results,
// one JSON value after the other. It is nil in any other process, including
// those that the command starts. Call it once.
func Results() io.Writer {
	if os.Getenv(resultsEnv) == "" {
		return nil
	}
	os.Unsetenv(resultsEnv)
	unix.CloseOnExec(resultsFD)
	return os.NewFile(resultsFD, "results")
}
