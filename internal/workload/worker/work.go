package worker

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// workerEnv keeps the runtime of a worker, which is measured, from doing
// anything besides its task, until orders have left very much garbage.
var workerEnv = []string{"GOMAXPROCS=1", "GOGC=off", "GOMEMLIMIT=64MiB"}

// workerSetup holds a worker's parameters.
type workerSetup struct {
	Task string      `json:"task"`
	Args []string    `json:"args"`
	CPUs unix.CPUSet `json:"cpus"`
}

// A Task prepares the work of a worker. do does it a number of times and
// returns how often it succeeded.
type Task func(args []string) (do func(times int) (int, error), err error)

// tasks are the tasks of workers, by name.
var tasks = map[string]Task{}

// Register registers a task. Call it from init functions.
func Register(name string, t Task) { tasks[name] = t }

// work does a task as often as each order says, until there are no more orders.
// The tool holds the other end of standard input, which the kernel closes
// however the tool ends.
func work(args []string) error {
	// Processes that the worker starts must not inherit it.
	for _, v := range workerEnv {
		name, _, _ := strings.Cut(v, "=")
		os.Unsetenv(name)
	}
	var setup workerSetup
	if len(args) != 1 {
		return errors.New("missing the setup")
	}
	if err := json.Unmarshal([]byte(args[0]), &setup); err != nil {
		return fmt.Errorf("read the setup: %w", err)
	}
	unix.CloseOnExec(answersFD)
	answers := json.NewEncoder(os.NewFile(answersFD, "answers"))
	if err := unix.SchedSetaffinity(0, &setup.CPUs); err != nil {
		return answers.Encode(answer{Error: fmt.Sprintf("stay on the CPUs: %s", err)})
	}
	prepare := tasks[setup.Task]
	if prepare == nil {
		return answers.Encode(answer{Error: fmt.Sprintf("no worker does %q", setup.Task)})
	}
	do, err := prepare(setup.Args)
	if err != nil {
		return answers.Encode(answer{Error: err.Error()})
	}
	if err := answers.Encode(answer{}); err != nil {
		return err
	}
	for orders := json.NewDecoder(os.Stdin); ; {
		var o order
		if err := orders.Decode(&o); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		var a answer
		began := time.Now()
		a.Done, err = do(o.Times)
		a.Took = time.Since(began)
		if err != nil {
			a.Error = err.Error()
		}
		if err := answers.Encode(a); err != nil {
			return err
		}
	}
}
