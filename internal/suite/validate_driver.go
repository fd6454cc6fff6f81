package suite

import (
	"slices"
	"strings"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// driver checks the driver of a benchmark. Without one, the program's type
// decides.
func (v *validator) driver(b *bench.Benchmark, at []any) {
	set := b.SetDrivers()
	if len(set) > 1 {
		v.errorf(at, "benchmark %q has several drivers, %s: it takes one", b.Name, strings.Join(set, " and "))
	}
	if b.Parallel && len(set) == 1 && b.TestRun == nil {
		v.errorf(sub(at, "parallel"), "parallel drives by test_run, and benchmark %q has %s", b.Name, set[0])
	}
	v.oneOf(sub(at, "state"), "state", string(b.State), string(bench.StateSteady), string(bench.StateFresh))
	for _, name := range bench.Drivers() {
		if v.doc.Null(sub(at, name)...) {
			v.errorf(sub(at, name), "%s is empty: write %s: {} for its defaults", name, name)
		}
	}
	if b.TestRun != nil {
		v.count(sub(at, "test_run", "repeat"), "repeat", b.TestRun.Repeat, 1_000_000)
		v.packets(sub(at, "test_run", "packets"), b.TestRun.Packets)
		v.context(b.TestRun.Context, sub(at, "test_run", "context"))
	}
	if b.Veth != nil {
		v.veth(b.Veth, sub(at, "veth"))
	}
	if b.PerfEvent != nil {
		v.perfEvent(b.PerfEvent, sub(at, "perf_event"))
	}
	if b.Cgroup != nil {
		v.exchange(b.Cgroup, sub(at, "cgroup"))
	}
	if b.Socket != nil {
		v.exchange(b.Socket, sub(at, "socket"))
	}
	if b.Command != nil {
		v.command(b.Command, sub(at, "command"))
	}
}

func (v *validator) context(c *bench.Context, at []any) {
	switch {
	case v.doc.Null(at...), c != nil && c.Hex == "" && len(c.Args) == 0 && c.Size == 0:
		v.errorf(at, "context is empty: it takes hex, args or size")
	case c == nil:
	case c.Hex != "" && len(c.Args) > 0:
		v.errorf(at, "hex and args exclude each other")
	default:
		v.count(sub(at, "size"), "size", c.Size, 65535)
	}
}

func (v *validator) veth(b *bench.Veth, at []any) {
	v.oneOf(sub(at, "mode"), "mode", string(b.Mode), string(bench.XDPNative), string(bench.XDPGeneric), string(bench.TC), string(bench.TCX))
	v.oneOf(sub(at, "direction"), "direction", string(b.Direction), string(bench.Ingress), string(bench.Egress))
	if b.Direction == bench.Egress && b.Mode != "" && !b.Mode.IsTC() {
		v.errorf(sub(at, "direction"), "mode %s has no egress: xdp programs see what comes in", b.Mode)
	}
	if b.Sender == "live_frames" && b.Mode.IsTC() {
		v.errorf(sub(at, "sender"), "live_frames reach xdp programs only: tc programs get packets by af_packet")
	}
	v.oneOf(sub(at, "sender"), "sender", b.Sender, "live_frames", "af_packet")
	v.count(sub(at, "count"), "count", b.Count, 10_000_000)
	v.packets(sub(at, "packets"), b.Packets)
}

func (v *validator) perfEvent(p *bench.PerfEvent, at []any) {
	if p.Frequency != 0 && p.Period != 0 {
		v.errorf(at, "frequency and period exclude each other")
	}
	v.oneOf(sub(at, "scope"), "scope", string(p.Scope), string(bench.ScopeProcess), string(bench.ScopeAll))
	v.duration(sub(at, "window"), "window", p.Window, 10*time.Second)
	if v.doc.Has(sub(at, "frequency")...) && p.Frequency == 0 || v.doc.Has(sub(at, "period")...) && p.Period == 0 {
		v.errorf(at, "frequency and period must be more than 0")
	}
	loads := 0
	for _, set := range []bool{p.Load.CPU != 0, p.Load.Command != nil, p.Load.PID != 0} {
		if set {
			loads++
		}
	}
	switch {
	case loads > 1:
		v.errorf(sub(at, "load"), "load takes one of cpu, command, pid")
	case p.Load.Command != nil && (len(p.Load.Command) == 0 || p.Load.Command[0] == ""):
		v.errorf(sub(at, "load", "command"), "the load's command is empty")
	case p.Load.PID < 0:
		v.errorf(sub(at, "load", "pid"), "pid must be more than 0")
	}
	v.count(sub(at, "load", "cpu"), "cpu", p.Load.CPU, 1024)
}

func (v *validator) exchange(e *bench.Exchange, at []any) {
	v.oneOf(sub(at, "protocol"), "protocol", string(e.Protocol), string(bench.ProtocolTCP), string(bench.ProtocolUDP))
	v.count(sub(at, "size"), "size", e.Size, 1400)
	v.count(sub(at, "count"), "count", e.Count, 1_000_000)
	v.count(sub(at, "port"), "port", e.Port, 39_999)
}

func (v *validator) command(c *bench.Command, at []any) {
	for i, name := range c.With {
		if name == "" || slices.Contains(c.With[:i], name) {
			v.errorf(sub(at, "with", i), "with has an empty name, or one twice")
		}
	}
	switch {
	case c.Run != nil && (len(c.Run) == 0 || c.Run[0] == ""):
		v.errorf(sub(at, "run"), "the command is empty")
	case c.Run != nil && (c.Load != "" || c.Syscall != ""):
		v.errorf(at, "run and load exclude each other")
	case c.Run != nil && c.Count != 0:
		v.errorf(sub(at, "count"), "count applies to a load: a command is run once a round")
	case c.Syscall != "" && c.Load != "" && c.Load != bench.LoadSyscalls:
		v.errorf(sub(at, "syscall"), "syscall applies to the load syscalls, not to %s", c.Load)
	case c.Run == nil && c.Timeout != 0:
		v.errorf(sub(at, "timeout"), "timeout applies to run: a load has none")
	}
	if c.Load == "" && v.doc.Has(sub(at, "load")...) {
		v.errorf(sub(at, "load"), "load is empty: leave it out for the one that suits the hook")
	}
	v.oneOf(sub(at, "load"), "load", c.Load, bench.Loads...)
	v.count(sub(at, "count"), "count", c.Count, 10_000_000)
	v.duration(sub(at, "timeout"), "timeout", c.Timeout, time.Hour)
}
