package diff

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	pprof "github.com/google/pprof/profile"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/profile"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

const ms = time.Millisecond

// recorded returns a profile of a second for each time that its thread works, sleeps in a
// function of its own, and is idle as threads of the Go runtime are.
func recorded(seconds int, work, nap time.Duration) *profile.Profile {
	thread := &profile.Thread{PID: 7, TID: 7, Name: "agent; 1", Process: "agent"}
	at := func(module string, frames ...profile.Frame) *profile.Location {
		return &profile.Location{Module: module, Kernel: module == "[kernel]", Address: 0x10, Frames: frames}
	}
	main := at("/bin/agent", profile.Frame{Func: "main.main", File: "/src/main.go", Line: 3})
	leaf := at("/bin/agent", profile.Frame{Func: "main.leaf", File: "/src/main.go", Line: 9, Inlined: true}, profile.Frame{Func: "main.work", File: "/src/main.go", Line: 8})
	pause := at("/bin/agent", profile.Frame{Func: "main.pause", File: "/src/main.go", Line: 20})
	schedule := at("[kernel]", profile.Frame{Func: "schedule"})
	park := at("/bin/agent", profile.Frame{Func: "runtime.mPark"})
	p := &profile.Profile{
		Command: []string{"agent"}, Start: time.Unix(1700000000, 0), Duration: time.Duration(seconds) * time.Second, Frequency: 100,
		Sources: map[profile.Kind]string{profile.CPU: "cpu-clock", profile.OffCPU: "sched_switch"}, Threads: []*profile.Thread{thread},
	}
	add := func(kind profile.Kind, took time.Duration, locations ...*profile.Location) {
		if took > 0 {
			p.Samples = append(p.Samples, profile.Sample{Kind: kind, Thread: thread, Took: took, Stack: &profile.Stack{Locations: locations}})
		}
	}
	for range seconds {
		add(profile.CPU, work, leaf, main)
		add(profile.CPU, 10*ms, main)
		add(profile.OffCPU, nap, schedule, pause, main)
		add(profile.OffCPU, 700*ms, schedule, park)
	}
	return p
}

// written returns a profile as it is read from a file.
func written(t testing.TB, name string, p *profile.Profile) *Profile {
	t.Helper()
	var b bytes.Buffer
	if err := p.WritePprof(&b); err != nil {
		t.Fatal(err)
	}
	read, err := Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	return &Profile{name, read}
}

func compare(t testing.TB, o Options, base, head *Profile) *Diff {
	t.Helper()
	d, err := o.Compare(t.Context(), base, head)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A recording that is twice as long has twice the values; that is not a change.
func TestBaseIsScaledToTheDuration(t *testing.T) {
	d := compare(t, Options{}, written(t, "base", recorded(1, 20*ms, 5*ms)), written(t, "head", recorded(2, 20*ms, 30*ms)))
	if len(d.Kinds) != 2 || d.Scale != "duration" {
		t.Fatalf("got %+v", d.Kinds)
	}
	cpu, off := d.Kinds[0], d.Kinds[1]
	if cpu.Sample != "cpu" || cpu.Factor != 2 || cpu.Total != (Change{int64(60 * ms), int64(60 * ms)}) || len(cpu.Functions) != 0 {
		t.Errorf("cpu: %+v", cpu)
	}
	want := Function{Name: "main.pause", Module: "agent", In: "schedule_[k]", Self: Change{int64(10 * ms), int64(60 * ms)}}
	if off.Sample != "off-cpu" || len(off.Functions) != 1 || off.Functions[0] != want {
		t.Errorf("off-cpu: %+v", off)
	}
}

func TestScales(t *testing.T) {
	base, head := recorded(1, 20*ms, 0), recorded(2, 50*ms, 0)
	main := func(base, head time.Duration) Change { return Change{int64(base), int64(head)} }
	for scale, want := range map[string]struct{ self, total Change }{
		"duration": {main(40*ms, 100*ms), main(60*ms, 120*ms)},
		"total":    {main(80*ms, 100*ms), main(120*ms, 120*ms)},
		"none":     {main(20*ms, 100*ms), main(30*ms, 120*ms)},
	} {
		d := compare(t, Options{Scale: scale, Sample: "cpu"}, written(t, "base", base), written(t, "head", head))
		k := d.Kinds[0]
		if f := k.Functions[0]; f.Name != "main.leaf" || f.Self != want.self || f.Total != want.self || k.Total != want.total {
			t.Errorf("%s: %+v of %+v", scale, f, k.Total)
		}
	}
}

// The change of pprof is the head less the base, and the base has the label of -diff_base.
func TestPprof(t *testing.T) {
	d := compare(t, Options{}, written(t, "base", recorded(1, 20*ms, 5*ms)), written(t, "head", recorded(2, 50*ms, 30*ms)))
	var b bytes.Buffer
	if err := d.WritePprof(&b); err != nil {
		t.Fatal(err)
	}
	p, err := Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.SampleType) != 2 || p.SampleType[0].Type != "cpu" || p.DurationNanos != int64(2*time.Second) {
		t.Fatalf("types %v, %d ns", p.SampleType, p.DurationNanos)
	}
	var all, base int64
	for _, s := range p.Sample {
		all += s.Value[0]
		if slices.Equal(s.Label["pprof::base"], []string{"true"}) {
			base += s.Value[0]
		}
	}
	if k := d.Kinds[0]; all != k.Total.By() || base != -k.Total.Base || all != int64(60*ms) {
		t.Errorf("%d in all, %d of the base, want %+v", all, base, k.Total)
	}
}

func TestFolded(t *testing.T) {
	d := compare(t, Options{}, written(t, "base", recorded(1, 20*ms, 5*ms)), written(t, "head", recorded(2, 50*ms, 0)))
	var b bytes.Buffer
	if err := d.WriteFolded(&b); err != nil {
		t.Fatal(err)
	}
	const want = `cpu;agent: 1;main.main 20000 20000
cpu;agent: 1;main.main;main.work;main.leaf 40000 100000
off-cpu;agent: 1;main.main;main.pause;schedule_[k] 10000 0
off-cpu;agent: 1;runtime.mPark;schedule_[k] 1400000 1400000
`
	if b.String() != want {
		t.Errorf("got\n%s", &b)
	}
}

func TestFlame(t *testing.T) {
	d := compare(t, Options{Sample: "cpu"}, written(t, "base", recorded(1, 20*ms, 5*ms)), written(t, "head", recorded(2, 50*ms, 0)))
	var b bytes.Buffer
	if err := d.Flame().WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"head compared with base", "<title>main.leaf: 100 ms, 83%, +60.0 ms</title>"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("there is no %s", want)
		}
	}
}

// Profiles of others have other values: those of memory are not times, and have no duration.
func TestOtherValues(t *testing.T) {
	memory := func(bytes int64) *Profile {
		f := &pprof.Function{ID: 1, Name: "main.grow"}
		l := &pprof.Location{ID: 1, Address: 0x1, Line: []pprof.Line{{Function: f}}}
		return &Profile{"heap", &pprof.Profile{
			SampleType: []*pprof.ValueType{{Type: "objects", Unit: "count"}, {Type: "space", Unit: "bytes"}},
			Sample:     []*pprof.Sample{{Value: []int64{1, bytes}, Location: []*pprof.Location{l}}}, Location: []*pprof.Location{l}, Function: []*pprof.Function{f},
		}}
	}
	d := compare(t, Options{}, memory(1024), memory(3072))
	if len(d.Kinds) != 1 || d.Scale != "none" || d.Kinds[0].Sample != "space" {
		t.Fatalf("got %+v", d)
	}
	if f := d.Kinds[0].Functions[0]; f.Name != "main.grow" || f.Self != (Change{1024, 3072}) || d.Kinds[0].Format(float64(f.Self.By())) != "2.00 KiB" {
		t.Errorf("got %+v", f)
	}
	for want, o := range map[string]Options{
		"one of the profiles does not say how long it was recorded": {Scale: "duration"},
		`the profiles have no values "cpu" in common`:               {Sample: "cpu"},
	} {
		if _, err := o.Compare(t.Context(), memory(1), memory(2)); err == nil || err.Error() != want || bench.Hint(err) == "" {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	_, err := Options{}.Compare(t.Context(), memory(1), written(t, "cpu", recorded(1, ms, ms)))
	if err == nil || err.Error() != "the profiles have no type of values in common" || bench.Hint(err) != "heap has objects in count, space in bytes; cpu has samples in count, cpu in nanoseconds, off-cpu in nanoseconds" {
		t.Errorf("got %v, %s", err, bench.Hint(err))
	}
}

func TestReadBoth(t *testing.T) {
	dir := t.TempDir()
	var good, none bytes.Buffer
	if err := recorded(1, ms, ms).WritePprof(&good); err != nil {
		t.Fatal(err)
	}
	if err := (&profile.Profile{Sources: map[profile.Kind]string{profile.CPU: "x"}}).WritePprof(&none); err != nil {
		t.Fatal(err)
	}
	random := make([]byte, 300)
	rand.New(rand.NewSource(1)).Read(random)
	for name, data := range map[string][]byte{
		"good": good.Bytes(), "none": none.Bytes(), "text": []byte("hello\n"), "empty": {}, "cut": good.Bytes()[:good.Len()/2], "random": append([]byte{0x1f, 0x8b}, random...), "flipped": flip(good.Bytes()),
	} {
		testenv.Write(t, filepath.Join(dir, name), data)
	}
	if err := os.Link(filepath.Join(dir, "good"), filepath.Join(dir, "same")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"none": "the profile has no samples", "text": "it is not a profile in the format of pprof", "empty": "it is not a profile in the format of pprof",
		"cut": "the file is damaged: unexpected EOF", "random": "the file is damaged: gzip: invalid header", "flipped": "the file is damaged: gzip: invalid checksum",
		"same": "BASE and HEAD are one file", "missing": "no such file",
	} {
		_, _, err := ReadBoth(t.Context(), filepath.Join(dir, "good"), filepath.Join(dir, name))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want %s", name, err, want)
		}
	}
}

// flip changes the checksum of compressed data.
func flip(data []byte) []byte {
	out := bytes.Clone(data)
	out[len(out)-8] ^= 1
	return out
}

func TestBombsAreRefused(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := read(&b, 99); err == nil || err.Error() != "it has more than 99 bytes" {
		t.Errorf("got %v", err)
	}
}

// A small file can be a large profile.
func TestLargeProfilesAreRefused(t *testing.T) {
	const sample, types = "\x12\x00", "\x0a\x00"
	for name, c := range map[string]struct{ text, want string }{
		"samples": {strings.Repeat(sample, maxParsed/128+1), "it would take 2.00 GiB of memory, more than 2.00 GiB"},
		"labels":  {"\x12\x80\x80\x80\x08" + strings.Repeat("\x1a\x00", 8<<20), "it would take 2.25 GiB of memory, more than 2.00 GiB"},
		"types":   {strings.Repeat(types, maxTypes+1) + "\x12\x67\x12\x65" + strings.Repeat("\x01", maxTypes+1) + "\x32\x00", "it has 101 types of values, more than 100"},
		// The parser of pprof reads on behind such a number.
		"long number": {"\x48\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f" + strings.Repeat(sample, 4), "it is not a profile in the format of pprof"},
		"cut sample":  {"\x12\x02\x1a\x08", "it is not a profile in the format of pprof"},
	} {
		if _, err := Read(strings.NewReader(c.text)); err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
}

// calls returns a profile with a sample of a depth, for each of its threads, of a function that
// calls itself.
func calls(name string, depth int, value int64, threads ...string) *Profile {
	f := &pprof.Function{ID: 1, Name: name}
	l := &pprof.Location{ID: 1, Line: []pprof.Line{{Function: f}}}
	p := &pprof.Profile{SampleType: []*pprof.ValueType{{Type: "cpu", Unit: "nanoseconds"}}, Location: []*pprof.Location{l}, Function: []*pprof.Function{f}}
	for _, thread := range threads {
		p.Sample = append(p.Sample, &pprof.Sample{Value: []int64{value}, Location: slices.Repeat([]*pprof.Location{l}, depth), Label: map[string][]string{"thread": {thread}}})
	}
	return &Profile{"calls", p}
}

func TestWhatIsMadeOfProfilesIsBounded(t *testing.T) {
	once := calls("f", 1, 1, "a")
	// As many samples as there are times, and one stack.
	d := compare(t, Options{}, calls("f", maxFrames, 1, slices.Repeat([]string{"a"}, 1000)...), calls("f", maxFrames, 2, "a"))
	if f := d.Kinds[0].Functions; len(d.stacks) != 2 || len(f) != 1 || f[0].Self != (Change{1000, 2}) || f[0].Total != (Change{1000, 2}) {
		t.Errorf("%d stacks, functions %+v", len(d.stacks), f)
	}
	var threads []string
	for i := range 600 {
		threads = append(threads, strconv.Itoa(i))
	}
	for want, head := range map[string]*Profile{
		"calls: a stack has more than 4096 functions":                                                 calls("f", maxFrames+1, 1, "a"),
		"calls: the functions of all stacks take more than 2.00 GiB of memory":                        calls(strings.Repeat("f", 1000), maxFrames, 1, threads...),
		"the values of cpu are too large: those of a profile add up to more than 4611686018427387904": calls("f", 1, 1<<62, "a", "b"),
	} {
		if _, err := (Options{}).Compare(t.Context(), once, head); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	long, short := calls("f", 1, 1<<40, "a"), calls("f", 1, 1, "a")
	long.DurationNanos, short.DurationNanos = 1, 1<<40
	if _, err := (Options{}).Compare(t.Context(), long, short); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("scaled: got %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := (Options{}).Compare(ended, once, once); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: got %v", err)
	}
}

// Whatever a profile has, the comparison and all of its formats are written.
func FuzzCompare(f *testing.F) {
	for _, p := range []*profile.Profile{recorded(1, ms, ms), recorded(2, 0, 5*ms)} {
		var b bytes.Buffer
		if err := p.WritePprof(&b); err != nil {
			f.Fatal(err)
		}
		z, err := gzip.NewReader(&b)
		if err != nil {
			f.Fatal(err)
		}
		data, err := io.ReadAll(z)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	known := written(f, "base", recorded(1, ms, ms))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		head := &Profile{"head", p}
		for _, base := range []*Profile{known, head} {
			for _, scale := range append([]string{""}, Scales...) {
				d, err := Options{Scale: scale}.Compare(t.Context(), base, head)
				if err != nil {
					continue
				}
				_ = d.WritePprof(io.Discard)
				_, _, _ = d.WriteFolded(io.Discard), d.Flame().WriteSVG(io.Discard), d.Flame().WriteHTML(io.Discard)
			}
		}
	})
}
