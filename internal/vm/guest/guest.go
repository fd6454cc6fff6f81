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

// Main runs this process as the first one of a guest, and then never returns,
// if it is that. It must be called before all else.
//
// Being process 1 is not enough: that of a container is, too.
func Main() {
	if os.Getpid() != 1 || os.Getenv(Env) == "" {
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

// Results is where a command that runs in a guest reports its results, one
// JSON value after the other. It is nil in any other process, and what the
// command starts is another one. It is to be called once.
func Results() io.Writer {
	if os.Getenv(ResultsEnv) == "" {
		return nil
	}
	os.Unsetenv(ResultsEnv)
	unix.CloseOnExec(resultsFD)
	return os.NewFile(resultsFD, "results")
}
