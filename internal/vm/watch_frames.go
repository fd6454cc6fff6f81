package vm

import (
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/org/ebpf-bench-action/internal/vm/guest"
)

// received is a frame, or why there will be no more.
type received struct {
	frame guest.Frame
	err   error
}

func readFrames(port io.Reader, frames chan<- received) {
	defer close(frames)
	r := guest.NewReader(port)
	for {
		f, err := r.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		frames <- received{f, err}
		if err != nil {
			_, _ = io.Copy(io.Discard, port) // QEMU must not wait
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

// handle handles a frame by its type.
func (w *watch) handle(f guest.Frame) error {
	switch f.Type {
	case guest.FrameHello:
		var h guest.Hello
		if err := json.Unmarshal(f.Data, &h); err != nil {
			return err
		}
		w.hello = true
		info := &w.cmd.Info
		info.Boot = time.Since(w.start)
		info.Release, info.Build, info.CPU, info.Warnings = h.Release, h.Build, h.CPU, h.Warnings
		if w.cmd.OnBoot != nil {
			w.cmd.OnBoot()
		}
	case guest.FrameStdout:
		return copyTo(w.cmd.Stdout, f.Data)
	case guest.FrameStderr:
		return copyTo(w.cmd.Stderr, f.Data)
	case guest.FrameResult:
		if w.cmd.OnResult != nil {
			w.cmd.OnResult(f.Data)
		}
	case guest.FrameExit:
		w.exit = new(guest.Exit)
		// There is nothing left for the guest to do but shut down.
		w.q.kill()
		return json.Unmarshal(f.Data, w.exit)
	}
	return nil
}

// copyTo passes on what the command wrote. A failing writer, such as a closed
// standard output, is its owner's business.
func copyTo(w io.Writer, data json.RawMessage) error {
	var p []byte
	if err := json.Unmarshal(data, &p); err != nil {
		return err
	}
	if w != nil {
		_, _ = w.Write(p)
	}
	return nil
}
