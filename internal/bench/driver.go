package bench

import (
	"strings"
	"time"
)

// The names of the drivers, in the suite file's spelling.
const (
	DriverTestRun   = "test_run"
	DriverVeth      = "veth"
	DriverPerfEvent = "perf_event"
	DriverCgroup    = "cgroup"
	DriverSocket    = "socket"
	DriverCommand   = "command"
	DriverVerify    = "verify"
)

// Settings are what a suite says of a driver.
type Settings interface {
	// Check reports what is wrong with them.
	Check(Checker)
	// SetDefaults fills in what the suite leaves to the driver. What depends on the program
	// or its hook is left to those who know it.
	SetDefaults()
}

// Checker reports what is wrong with a part of a suite. Where the part has no value for a
// key, the methods that check one accept the zero value, which means the default.
type Checker interface {
	// Under returns the checker of the part at a path of keys and indices.
	Under(at ...any) Checker
	// Errorf reports an error in the part as a whole, or in the deepest part of its path
	// that exists.
	Errorf(format string, args ...any)
	// Has reports whether the part has a value for the key, Null whether it has a key
	// without one.
	Has(key string) bool
	Null(key string) bool
	// OneOf checks a word, Count a number from 1, Duration a time above 0, and Packets
	// that a list is not empty.
	OneOf(key, got string, want ...string)
	Count(key string, n, limit int)
	Duration(key string, d Duration, limit time.Duration)
	Packets(key string, packets []Packet)
}

// A driverRow is a driver, and where a benchmark has its settings.
type driverRow struct {
	name string
	// words say, in a new suite, how it runs programs, and start are the settings that it
	// gets there.
	words, start string
	// get returns the settings, nil if there are none.
	get func(*Benchmark) Settings
	// set gives the benchmark the driver without settings, or takes it away.
	set func(b *Benchmark, on bool)
}

// driverRows are all drivers, in the order of the documentation.
var driverRows = []driverRow{
	settings(DriverTestRun, "run by the kernel's own test_run", "", func(b *Benchmark) **TestRun { return &b.TestRun }),
	settings(DriverVeth, "attached to an interface that gets packets", "", func(b *Benchmark) **Veth { return &b.Veth }),
	settings(DriverPerfEvent, "samples a process that keeps a CPU busy", "{event: cpu-clock, frequency: 9999, load: {cpu: 1}}", func(b *Benchmark) **PerfEvent { return &b.PerfEvent }),
	settings(DriverCgroup, "attached to a cgroup, in which a process does what the hook is called for", "", func(b *Benchmark) **Exchange { return &b.Cgroup }),
	settings(DriverSocket, "attached to the sockets of a process that exchanges messages with a peer", "", func(b *Benchmark) **Exchange { return &b.Socket }),
	settings(DriverCommand, "attached to its hook, which a load triggers", "", func(b *Benchmark) **Command { return &b.Command }),
	settings(DriverVerify, "only loaded", "", func(b *Benchmark) **Verify { return &b.Verify }),
}

func settings[T any, P interface {
	*T
	Settings
}](name, words, start string, of func(*Benchmark) *P) driverRow {
	return driverRow{
		name: name, words: words, start: start,
		get: func(b *Benchmark) Settings {
			if p := *of(b); p != nil {
				return p
			}
			return nil
		},
		set: func(b *Benchmark, on bool) {
			*of(b) = nil
			if on {
				*of(b) = new(T)
			}
		},
	}
}

// DriverWords returns how a driver runs programs.
func DriverWords(name string) string { return driverNamed(name).words }

// DriverStart returns the settings that a new suite gives a driver, empty for none.
func DriverStart(name string) string { return driverNamed(name).start }

func driverNamed(name string) (found driverRow) {
	for _, d := range driverRows {
		if d.name == name {
			found = d
		}
	}
	return found
}

// Drivers returns the names of all drivers, in the order of the documentation.
func Drivers() (names []string) {
	for _, d := range driverRows {
		names = append(names, d.name)
	}
	return names
}

// SetDrivers returns the names of the drivers that the benchmark sets, which should be at
// most one.
func (b *Benchmark) SetDrivers() (names []string) {
	for _, d := range driverRows {
		if d.get(b) != nil {
			names = append(names, d.name)
		}
	}
	return names
}

// Driver returns the name of the benchmark's driver, empty if the program's type
// determines it.
func (b *Benchmark) Driver() string {
	for _, d := range driverRows {
		if d.get(b) != nil {
			return d.name
		}
	}
	return ""
}

// CheckDrivers reports what is wrong with the drivers that the benchmark sets. c is
// the checker of the benchmark.
func (b *Benchmark) CheckDrivers(c Checker) {
	set := b.SetDrivers()
	if len(set) > 1 {
		c.Errorf("benchmark %q has several drivers, %s: it takes one", b.Name, strings.Join(set, " and "))
	}
	if b.Parallel && len(set) == 1 && b.TestRun == nil {
		c.Under("parallel").Errorf("parallel drives by test_run, and benchmark %q has %s", b.Name, set[0])
	}
	for _, d := range driverRows {
		if c.Null(d.name) {
			c.Under(d.name).Errorf("%s is empty: write %s: {} for its defaults", d.name, d.name)
		}
		if s := d.get(b); s != nil {
			s.Check(c.Under(d.name))
		}
	}
}

// SetDriverDefaults fills in what the suite leaves to the benchmark's driver.
func (b *Benchmark) SetDriverDefaults() {
	for _, d := range driverRows {
		if s := d.get(b); s != nil {
			s.SetDefaults()
		}
	}
}

// SetDriver makes the named driver, without settings, the benchmark's only one.
func (b *Benchmark) SetDriver(name string) {
	for _, d := range driverRows {
		d.set(b, d.name == name)
	}
}
