package vm

import (
	"context"
	"io"
	"time"
)

// watch follows a VM from its start to its end. One goroutine handles
// everything that comes from it, in order.
type watch struct {
	cmd   *Cmd
	q     *qemu
	start time.Time

	// lastSign is when the guest last gave a sign of life, and lastCPU how long
	// QEMU had computed by then.
	lastSign time.Time
	lastCPU  time.Duration
	nmiAt    time.Time

	console console
	outcome
}

func newWatch(c *Cmd, q *qemu, start time.Time) *watch {
	return &watch{cmd: c, q: q, start: start, lastSign: start, outcome: outcome{mode: c.Mode, memory: c.memory()}}
}

// run returns when QEMU has ended.
func (w *watch) run(ctx context.Context) *outcome {
	frames := make(chan received)
	prints := make(chan []byte)
	messages := make(chan qmpMessage)
	go readFrames(w.q.port, frames)
	go readAll(w.q.console, prints)
	go w.q.monitor.read(messages)

	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	var timeout <-chan time.Time
	if w.cmd.Timeout > 0 {
		timer := time.NewTimer(w.cmd.Timeout)
		defer timer.Stop()
		timeout = timer.C
	}
	cancelled := ctx.Done()
	// The channels close when QEMU ends, however it does.
	for frames != nil || prints != nil || messages != nil {
		select {
		case r, ok := <-frames:
			if !ok {
				frames = nil
				break
			}
			w.received(r)
		case p, ok := <-prints:
			if !ok {
				prints = nil
				break
			}
			w.printed(p)
		case m, ok := <-messages:
			if !ok {
				messages = nil
				break
			}
			w.monitored(m)
		case <-tick.C:
			w.checkAlive()
		case <-timeout:
			w.timeout = w.cmd.Timeout
			w.q.kill()
		case <-cancelled:
			cancelled = nil
			w.cancelled = context.Cause(ctx)
			w.q.kill()
		}
	}
	err := w.q.wait()
	w.signal, w.status, w.complaint = killedBy(err), statusOf(err), w.q.complaint()
	w.report = w.console.report()
	return &w.outcome
}

func readAll(r io.Reader, prints chan<- []byte) {
	defer close(prints)
	for {
		buf := make([]byte, 4096)
		n, err := r.Read(buf)
		if n > 0 {
			prints <- buf[:n]
		}
		if err != nil {
			return
		}
	}
}

func (w *watch) printed(p []byte) {
	w.console.add(p)
	if w.cmd.Console != nil {
		_, _ = w.cmd.Console.Write(p)
	}
}

// monitored answers QEMU. The only thing that QEMU reports by itself is that it
// has stopped the guest, which it does not do because of the guest.
func (w *watch) monitored(m qmpMessage) {
	switch {
	case m.Greeting != nil:
		w.greeted = true
		w.cmd.Info.QEMU = m.version()
		w.q.execute(qmpCapabilities)
	case m.Event == "STOP":
		w.q.execute(qmpStatus)
	case m.Return.Status != "" && m.Return.Status != "running":
		w.paused = m.Return.Status
		w.q.kill()
	}
}
