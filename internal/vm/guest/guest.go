// Package guest is the first process of a virtual machine, which runs a command there,
// and the frames in which it tells the host about that.
package guest

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// Env marks the first process of a guest. The kernel hands on as environment what it
	// does not know of its command line.
	Env = "EBPF_BENCH_GUEST"
	// InitPath is where the kernel looks for the first process.
	InitPath = "/init"
	// ConfigPath is the file of the Config.
	ConfigPath = "/ebpf-bench/config.json"
)

// Config tells the first process of a guest what to do.
type Config struct {
	Modules []string `json:"modules"` // in the order in which they load
	Args    []string `json:"args"`
	Env     []string `json:"env"`
	Dir     string   `json:"dir"`
	// TimerSlack is that of the command, in nanoseconds; 0 is the kernel's.
	TimerSlack uint64 `json:"timer_slack,omitempty"`
}

// Main runs this process as the first one of a guest if it is that, and then never
// returns. Call it before anything else.
//
// Being process 1 is not enough: a container has one, too.
func Main() {
	if os.Getpid() != 1 || os.Getenv(Env) == "" {
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
	if err := p.send(FrameHello, introduce(warnings)); err != nil {
		return err
	}
	go p.beat()
	if err := p.send(FrameExit, runCommand(config, p)); err != nil {
		return err
	}
	return p.drain()
}

func readConfig() (*Config, error) {
	text, err := os.ReadFile(ConfigPath)
	if err != nil {
		return nil, fmt.Errorf("read config: %w", err)
	}
	var config Config
	if err := json.Unmarshal(text, &config); err != nil {
		return nil, fmt.Errorf("read %s: %w", ConfigPath, err)
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
		if p.send(FrameHeartbeat, nil) != nil {
			return // the host finds out
		}
	}
}

const (
	// ResultsEnv tells a command in a guest that it can report results.
	ResultsEnv = "EBPF_BENCH_RESULTS"
	// resultsFD is where it reports them.
	resultsFD = 3
)

// Results returns the writer to which a command in a guest reports its results,
// one JSON value after the other. It is nil in any other process, including
// those that the command starts. Call it once.
func Results() io.Writer {
	if os.Getenv(ResultsEnv) == "" {
		return nil
	}
	os.Unsetenv(ResultsEnv)
	unix.CloseOnExec(resultsFD)
	return os.NewFile(resultsFD, "results")
}
