package perf

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// start starts the supervisor and waits until it has started the group.
func (l *Load) start() error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer w.Close()
	if l.lifeline, err = l.supervisor.StdinPipe(); err != nil {
		r.Close()
		return err
	}
	l.supervisor.ExtraFiles = []*os.File{w}
	l.supervisor.Stderr = &l.stderr
	// Neither the terminal's signals nor those for the group reach it.
	l.supervisor.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// An escaped process may hold standard error open.
	l.supervisor.WaitDelay = time.Second
	// The caller's thread may be locked and pinned to a CPU, which a load would
	// inherit. A separate goroutine runs on another thread.
	started := make(chan error)
	go func() { started <- l.supervisor.Start() }()
	if err := <-started; err != nil {
		r.Close()
		return err
	}
	w.Close()

	reports := json.NewDecoder(r)
	var first report
	if err := reports.Decode(&first); err != nil || first.Group == 0 {
		l.lifeline.Close()
		err := l.supervisor.Wait()
		r.Close()
		return l.failure(first, err)
	}
	l.group = first.Group
	go l.watch(r, reports)
	return nil
}

// watch waits for the group to end.
func (l *Load) watch(r io.Closer, reports *json.Decoder) {
	defer close(l.ended)
	defer r.Close()
	var last report
	_ = reports.Decode(&last) // a supervisor that was killed reports nothing
	l.err = bench.WithHint(fmt.Errorf("load ended early: %w", l.failure(last, l.supervisor.Wait())),
		"a load goes on until it is stopped: have its command do its work again and again")
}

// failure returns why the load ended: the supervisor's report, else how the
// supervisor ended, with the last lines written to standard error.
func (l *Load) failure(r report, waited error) error {
	err := waited
	if r.Ended != "" {
		err = errors.New(r.Ended)
	}
	if err == nil {
		err = errors.New("its supervisor ended without a report")
	}
	if tail := l.stderr.String(); tail != "" {
		return fmt.Errorf("%w: %s", err, tail)
	}
	return err
}
