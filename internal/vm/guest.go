package vm

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Main runs this process as the first one of a guest, and then never returns,
// if it is that. It must be called before all else.
//
// Being process 1 is not enough: that of a container is, too.
func Main() {
	if os.Getpid() != 1 || os.Getenv(guestEnv) == "" {
		return
	}
	if err := runGuest(); err != nil {
		// This goes to the console, from where it gets into the verdict.
		fmt.Fprintln(os.Stderr, "ebpf-bench:", err)
	}
	restart()
}

// runGuest makes the guest a place in which the command can run, runs it, and
// reports. An error is one that could not be reported.
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

// restart ends the machine, which QEMU does not let restart. To power it off
// would take ACPI.
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

// resultsFD is where a command in a guest reports its results, and resultsEnv
// says that there is such a thing.
const (
	resultsFD  = 3
	resultsEnv = "EBPF_BENCH_RESULTS"
)

// Results is where a command that runs in a guest reports its results, one
// JSON value after the other. It is nil in any other process, and what the
// command starts is another one. It is to be called once.
func Results() io.Writer {
	if os.Getenv(resultsEnv) == "" {
		return nil
	}
	os.Unsetenv(resultsEnv)
	unix.CloseOnExec(resultsFD)
	return os.NewFile(resultsFD, "results")
}
