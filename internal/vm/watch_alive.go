package vm

import "time"

// patience is how long a guest may be silent before it counts as hung.
type patience struct {
	// cpu is computing time of QEMU, which passes only while the guest runs. It
	// distinguishes a hung guest from a host that has no time for it.
	cpu time.Duration
	// wall is for a guest that does not even compute.
	wall time.Duration
}

var (
	// A booting kernel is silent until its first process is ready. The slowest
	// take 5 s.
	bootPatience = map[Mode]patience{
		Exact: {cpu: 30 * time.Second, wall: 3 * time.Minute},
		KVM:   {cpu: 15 * time.Second, wall: 15 * time.Second},
	}
	// After that, a heartbeat comes every 200 million instructions, a second or
	// so of computing.
	runPatience = map[Mode]patience{
		Exact: {cpu: 10 * time.Second, wall: time.Minute},
		KVM:   {cpu: 15 * time.Second, wall: 15 * time.Second},
	}
)

const (
	// watchInterval is how often to check whether the guest is alive.
	watchInterval = 100 * time.Millisecond
	// nmiPatience is how long a guest may take to say where it hangs.
	nmiPatience = 10 * time.Second
)

// checkAlive interrupts a guest that has been silent for too long, which makes
// it show where it is, and end.
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
	w.q.execute(qmpNMI)
}
