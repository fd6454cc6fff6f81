package vm

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"
)

// patience is how long a guest may be silent before it counts as hung.
type patience struct {
	// cpu is computing time of QEMU, which passes only while the guest runs.
	// It tells a hung guest from a host that has no time for it.
	cpu time.Duration
	// wall is for a guest that does not even compute.
	wall time.Duration
}

var (
	// A kernel that boots is silent until its first process is ready. The
	// slowest take 5 s.
	bootPatience = map[Mode]patience{
		Exact: {cpu: 30 * time.Second, wall: 3 * time.Minute},
		KVM:   {cpu: 15 * time.Second, wall: 15 * time.Second},
	}
	// Then a heartbeat comes after each 200 million instructions, a second or
	// so of computing.
	runPatience = map[Mode]patience{
		Exact: {cpu: 10 * time.Second, wall: time.Minute},
		KVM:   {cpu: 15 * time.Second, wall: 15 * time.Second},
	}
)

const (
	// watchInterval is how often to look whether the guest is alive.
	watchInterval = 100 * time.Millisecond
	// nmiPatience is how long a guest may take to say where it hangs.
	nmiPatience = 10 * time.Second
)

// watch follows a VM from its start to its end. All that comes from it is
// handled by one goroutine, in the order in which it comes.
type watch struct {
	cmd   *Cmd
	q     *qemu
	start time.Time

	// lastSign is when the guest last gave a sign of life, and lastCPU how
	// long QEMU had computed by then.
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
	w.signal, w.complaint = killedBy(err), w.q.complaint()
	w.report = w.console.report()
	return &w.outcome
}

// received is a frame, or why there will be no more.
type received struct {
	frame frame
	err   error
}

func readFrames(port io.Reader, frames chan<- received) {
	defer close(frames)
	r := newFrameReader(port)
	for {
		f, err := r.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		frames <- received{f, err}
		if err != nil {
			io.Copy(io.Discard, port)
			return
		}
	}
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

func (w *watch) received(r received) {
	err := r.err
	if err == nil {
		err = w.handle(r.frame)
	}
	if err != nil {
		w.damaged = err
		w.q.kill()
		return
	}
	w.lastSign, w.lastCPU = time.Now(), w.q.cpuTime()
}

// handle takes a frame as what it is.
func (w *watch) handle(f frame) error {
	switch f.Type {
	case frameHello:
		var h hello
		if err := json.Unmarshal(f.Data, &h); err != nil {
			return err
		}
		w.hello = true
		info := &w.cmd.Info
		info.Boot = time.Since(w.start)
		info.Release, info.Build, info.CPU, info.Warnings = h.Release, h.Build, h.CPU, h.Warnings
	case frameStdout:
		return copyTo(w.cmd.Stdout, f.Data)
	case frameStderr:
		return copyTo(w.cmd.Stderr, f.Data)
	case frameResult:
		if w.cmd.OnResult != nil {
			w.cmd.OnResult(f.Data)
		}
	case frameExit:
		w.exit = new(exit)
		// There is nothing left to do for the guest but to shut down.
		w.q.kill()
		return json.Unmarshal(f.Data, w.exit)
	}
	return nil
}

// copyTo hands on what the command wrote. A writer that fails is its owner's
// business, as a closed standard output is.
func copyTo(w io.Writer, data json.RawMessage) error {
	var p []byte
	if err := json.Unmarshal(data, &p); err != nil {
		return err
	}
	if w != nil {
		w.Write(p)
	}
	return nil
}

func (w *watch) printed(p []byte) {
	w.console.Write(p)
	if w.cmd.Console != nil {
		w.cmd.Console.Write(p)
	}
}

// monitored answers QEMU. What it tells by itself is that it has stopped the
// guest, which it does not do because of the guest.
func (w *watch) monitored(m qmpMessage) {
	switch {
	case m.Greeting != nil:
		w.cmd.Info.QEMU = m.version()
		w.q.monitor.execute(qmpCapabilities)
	case m.Event == "STOP":
		w.q.monitor.execute(qmpStatus)
	case m.Return.Status != "" && m.Return.Status != "running":
		w.paused = m.Return.Status
		w.q.kill()
	}
}

// checkAlive interrupts a guest that has been silent for too long: it shows
// where it is, and ends.
func (w *watch) checkAlive() {
	if w.hung {
		if time.Since(w.nmiAt) > nmiPatience {
			w.q.kill()
		}
		return
	}
	limit := bootPatience[w.mode]
	if w.hello {
		limit = runPatience[w.mode]
	}
	if w.q.cpuTime()-w.lastCPU < limit.cpu && time.Since(w.lastSign) < limit.wall {
		return
	}
	w.hung, w.nmiAt = true, time.Now()
	if w.q.monitor.execute(qmpNMI) != nil {
		w.q.kill()
	}
}
