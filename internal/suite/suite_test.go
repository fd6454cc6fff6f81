package suite

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
)

const whole = `# yaml-language-server: $schema=schema.json
version: 1
objects: ["bpf/*.o"]
budget: 500ms
thresholds: ../team.yml
benchmarks:
  - name: xdp/basic
    program: basic
    globals: {PID: 42, on: true, raw: "00ff"}
    maps:
      flows: {entries: [{key: 1, value: "0a"}]}
      ring: {reset: never}
    test_run:
      repeat: 100
      packets: &packets
        - {eth: {vlan: 5}, ipv4: {src: 10.0.0.0/30, dst: 10.0.0.9, ttl: 3}, udp: {src: 1, dst: 53}, size: [64, 128]}
        - {ipv6: {src: "fd00::1-fd00::3"}, tcp: {dst: 80, flags: [syn, ack]}, size: 90}
        - {hex: "00 11"}
        - {pcap: traffic.pcap}
  - name: xdp/veth
    object: bpf/a.o
    program: basic
    budget: 2s
    veth: {mode: generic, sender: af_packet, packets: *packets, count: 10}
  - name: profiler
    program: profile
    perf_event:
      event: task-clock
      period: 1000
      scope: all
      window: 5ms
      load: {command: ["stress", "-c", "1"]}
  - {name: defaults, program: p, test_run: {}}
  - {name: veth defaults, program: p, veth: {}}
  - {name: perf defaults, program: p, perf_event: {}}
`

func load(text string) (*Suite, error) {
	return Load(fstest.MapFS{
		"dir/ebpf-bench.yml": {Data: []byte(text)},
		"dir/bpf/a.o":        {Data: []byte("a")},
		"dir/bpf/b.o":        {Data: []byte("b")},
		"dir/plugins.o":      {Data: []byte("plugins")},
		"dir/traffic.pcap":   {Data: []byte("pcap")},
	}, "dir/ebpf-bench.yml")
}

func TestLoad(t *testing.T) {
	if err := validate(t, whole); err != nil {
		t.Errorf("the schema refuses what the reader takes: %v", err)
	}
	s, err := load(whole)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.ThresholdsFile(); got != "team.yml" {
		t.Errorf("the thresholds are in %q", got)
	}
	if len(s.Objects) != 2 || s.Objects[0].Path != "bpf/a.o" || len(s.Objects[0].SHA256) != 64 {
		t.Errorf("objects %+v", s.Objects)
	}
	b := s.Benchmarks
	if len(b) != 6 {
		t.Fatalf("%d benchmarks", len(b))
	}
	if got := b[0].TestRun.Packets[0].IPv4.Src.Len(); got != 4 {
		t.Errorf("10.0.0.0/30 has %d addresses", got)
	}
	if len(b[1].Veth.Packets) != 4 || b[1].Budget != bench.Duration(2*time.Second) {
		t.Errorf("the alias or the budget was lost: %+v", b[1])
	}
	if b[0].Budget != bench.Duration(500*time.Millisecond) {
		t.Errorf("the suite's budget is not the benchmark's: %v", b[0].Budget)
	}
	if d := b[5].PerfEvent; d.Event != "cpu-clock" || d.Frequency != 9999 || d.Load.CPU != 1 || d.Scope != bench.ScopeProcess {
		t.Errorf("defaults of perf_event: %+v", d)
	}
	if data, err := s.ReadFile("traffic.pcap"); err != nil || string(data) != "pcap" {
		t.Errorf("a file beside the suite is not read: %v", err)
	}
}

func TestLoadRefuses(t *testing.T) {
	const head = "version: 1\nobjects: [bpf/a.o]\nbenchmarks:\n"
	const good = "  - {name: a, program: p, test_run: {}}\n"
	for _, c := range []struct{ name, text, want string }{
		{"empty file", "", "yml:1: the file is empty"},
		{"empty suite", "version: 1\nbenchmarks: []\n", "yml:2: the suite has no benchmarks"},
		{"no mapping", "- a\n", "yml:1: the file is not a mapping"},
		{"two documents", head + good + "---\nversion: 1\n", "more than one YAML document"},
		{"syntax", "version: [1\n", "ebpf-bench.yml:"},
		{"control character", head + good + "#\a\n", "yml:5: control characters are not allowed"},
		{"no UTF-8", head + good + "#\xff\n", "yml:5: "},
		{"no version", "benchmarks:\n" + good, "version is missing"},
		{"future version", "version: 2\nbenchmarks:\n" + good, "yml:1: version 2 is not known"},
		{"unknown key", head + "  - {name: a, program: p, test_rum: {}}\n", `yml:4: unknown key "test_rum": did you mean "test_run"?`},
		{"unknown key far off", head + "  - {name: a, program: p, zzzzzzzzz: {}}\n", `unknown key "zzzzzzzzz": the keys here are budget, cgroup`},
		{"nested unknown key", head + "  - name: a\n    program: p\n    test_run:\n      packet: []\n", `yml:7: unknown key "packet": did you mean "packets"?`},
		{"key twice", head + "  - {name: a, name: b, program: p, test_run: {}}\n", "yml:4: name is given twice"},
		{"wrong kind", head + "  - {name: a, program: p, test_run: {repeat: many}}\n", `yml:4: repeat: "many" is not a whole number`},
		{"number that does not fit", head + "  - {name: a, program: p, test_run: {context: {args: [18446744073709551615, 18446744073709551616]}}}\n", `yml:4: args: "18446744073709551616" is too large`},
		{"scalar for a driver without settings", head + "  - {name: a, program: p, verify: 1}\n", "yml:4: verify has no settings: write verify: {}"},
		{"scalar for mapping", head + "  - {name: a, program: p, test_run: 5}\n", "yml:4: test_run is a mapping with the keys context, packets, repeat"},
		{"bad duration", head + "  - {name: a, program: p, budget: 5, test_run: {}}\n", `yml:4: budget: "5" is not a duration`},
		{"bad address", head + "  - {name: a, program: p, test_run: {packets: [{ipv4: {src: 10.0.0}}]}}\n", `yml:4: src: "10.0.0" is not an address`},
		{"duplicate name", head + good + good, `yml:5: name "a" is already used in line 4`},
		{"duplicate slug", head + good + "  - {name: A, program: p, test_run: {}}\n", `yml:5: names "a" and "A" are both "a"`},
		{"no name", head + "  - {program: p, test_run: {}}\n", "yml:4: a benchmark has no name"},
		{"unprintable name", head + "  - {name: \"a\\e[31m\", program: p, test_run: {}}\n", "cannot be printed"},
		{"long name", head + "  - {name: " + strings.Repeat("x", 1025) + ", program: p, test_run: {}}\n", "1025 bytes"},
		{"no program", head + "  - {name: a, test_run: {}}\n", "names no program"},
		{"two drivers", head + "  - {name: a, program: p, test_run: {}, veth: {}}\n", "has several drivers"},
		{"null driver", head + "  - {name: a, program: p, test_run: }\n", "yml:4: test_run is empty: write test_run: {}"},
		{"run and count", head + "  - {name: a, program: p, command: {run: [ls], count: 5}}\n", "run once a round"},
		{"timeout of a load", head + "  - {name: a, program: p, command: {load: forks, timeout: 1s}}\n", "timeout applies to run"},
		{"syscall of another load", head + "  - {name: a, program: p, command: {load: forks, syscall: read}}\n", "syscall applies to the load syscalls"},
		{"unknown load", head + "  - {name: a, program: p, command: {load: storms}}\n", "one of syscalls, switches"},
		{"run and load", head + "  - {name: a, program: p, command: {run: [ls], load: forks}}\n", "exclude each other"},
		{"bad size", head + "  - {name: a, program: p, socket: {size: 1500}}\n", `size must be`},
		{"bad port", head + "  - {name: a, program: p, socket: {port: 70000}}\n", `port must be`},
		{"bad protocol", head + "  - {name: a, program: p, socket: {protocol: ip}}\n", `protocol "ip" is not known`},
		{"no object", "version: 1\nbenchmarks:\n" + good, "names no object"},
		{"missing object", "version: 1\nobjects: [nope.o]\nbenchmarks:\n" + good, "yml:2: read object"},
		{"missing object of a benchmark", head + "  - {name: a, object: nope.o, program: p, test_run: {}}\n", "yml:4: read object"},
		{"folder as object", "version: 1\nobjects: [bpf]\nbenchmarks:\n" + good, "bpf is a folder"},
		{"empty glob", "version: 1\nobjects: [\"*.x\"]\nbenchmarks:\n" + good, `no file matches "*.x"`},
		{"zero repeat", head + "  - {name: a, program: p, test_run: {repeat: 0}}\n", "yml:4: repeat must be from 1 to"},
		{"zero budget", head + "  - {name: a, program: p, budget: 0s, test_run: {}}\n", "yml:4: budget must be more than 0"},
		{"zero frequency", head + "  - {name: a, program: p, perf_event: {frequency: 0}}\n", "must be more than 0"},
		{"no packets", head + "  - {name: a, program: p, veth: {packets: []}}\n", "packets is an empty list"},
		{"an object for a suite", "\x7fELF\x02", "is an ELF object and no suite"},
		{"bad repeat", head + "  - {name: a, program: p, test_run: {repeat: -1}}\n", "repeat must be from 1 to"},
		{"bad mode", head + "  - {name: a, program: p, veth: {mode: nativ}}\n", `mode "nativ" is not known: it is one of native, generic`},
		{"bad sender", head + "  - {name: a, program: p, veth: {sender: nc}}\n", `sender "nc"`},
		{"an XDP program's egress", head + "  - {name: a, program: p, veth: {mode: native, direction: egress}}\n", "yml:4: mode native has no egress"},
		{"live frames for tc", head + "  - {name: a, program: p, veth: {mode: tcx, sender: live_frames}}\n", "yml:4: live_frames reach xdp programs only"},
		{"bad direction", head + "  - {name: a, program: p, veth: {mode: tc, direction: out}}\n", `direction "out" is not known: it is one of ingress, egress`},
		{"empty context", head + "  - {name: a, program: p, test_run: {context: {}}}\n", "yml:4: context is empty: it takes hex, args or size"},
		{"context of nothing", head + "  - {name: a, program: p, test_run: {context: }}\n", "yml:4: context is empty"},
		{"hex for a context", head + "  - {name: a, program: p, test_run: {context: 0011}}\n", "yml:4: context is a mapping with the keys args, hex, size"},
		{"two contexts", head + "  - {name: a, program: p, test_run: {context: {hex: 00, args: [1]}}}\n", "yml:4: hex and args exclude each other"},
		{"large context", head + "  - {name: a, program: p, test_run: {context: {size: 65536}}}\n", "yml:4: size must be from 1 to 65535"},
		{"negative argument", head + "  - {name: a, program: p, test_run: {context: {args: [-1]}}}\n", "yml:4: args"},
		{"parallel by veth", head + "  - {name: a, program: p, parallel: true, veth: {}}\n", `yml:4: parallel drives by test_run, and benchmark "a" has veth`},
		{"two loads", head + "  - {name: a, program: p, perf_event: {load: {cpu: 1, pid: 2}}}\n", "one of cpu, command, pid"},
		{"empty command", head + "  - {name: a, program: p, perf_event: {load: {command: []}}}\n", "command is empty"},
		{"frequency and period", head + "  - {name: a, program: p, perf_event: {period: 1, frequency: 2}}\n", "exclude each other"},
		{"bad state", head + "  - {name: a, program: p, state: new, test_run: {}}\n", `state "new"`},
		{"bad reset", head + "  - {name: a, program: p, maps: {m: {reset: now}}, test_run: {}}\n", `reset "now"`},
		{"no kernels", "version: 1\nkernels: []\nobjects: [bpf/a.o]\nbenchmarks:\n" + good, "yml:2: kernels is an empty list: leave it out"},
		{"kernels without a value", "version: 1\nkernels:\nobjects: [bpf/a.o]\nbenchmarks:\n" + good, "yml:2: kernels is an empty list: leave it out"},
		{"no thresholds", "version: 1\nthresholds:\nobjects: [bpf/a.o]\nbenchmarks:\n" + good, "yml:2: thresholds names no file"},
		{"thresholds that are none", "version: 1\nthresholds: [{measure: latency}]\nobjects: [bpf/a.o]\nbenchmarks:\n" + good, "yml:2: thresholds is a single value"},
		{"an empty kernel", "version: 1\nkernels:\n  - 6.12\n  - \"\"\nobjects: [bpf/a.o]\nbenchmarks:\n" + good, "yml:4: a kernel has no name"},
		{"a kernel of nothing", "version: 1\nkernels: [6.12, ~]\nobjects: [bpf/a.o]\nbenchmarks:\n" + good, "yml:2: a kernel has no name"},
		{"a kernel that is a mapping", "version: 1\nkernels: {name: 6.12}\nobjects: [bpf/a.o]\nbenchmarks:\n" + good, "yml:2: kernels is a list of names"},
		{"a list of a list", "version: 1\nkernels:\n  - [6.12]\nobjects: [bpf/a.o]\nbenchmarks:\n" + good, "yml:3: kernels is a list of names"},
		{"anchor in itself", head + "  - &a {name: a, program: p, test_run: {packets: [*a]}}\n", "ebpf-bench.yml"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := load(c.text)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v\nwant an error with %q", err, c.want)
			}
		})
	}
}

// A version is a name even if YAML would read a number.
// The examples in docs/drivers.md are parts of suites that load and that editors accept.
func TestDocumentedDrivers(t *testing.T) {
	page, err := os.ReadFile("../../docs/drivers.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$").FindAllStringSubmatch(string(page), -1)
	if len(examples) != 3 {
		t.Errorf("%d examples", len(examples))
	}
	for _, e := range examples {
		text := e[1]
		if !strings.HasPrefix(text, "benchmarks:") {
			text = "benchmarks:\n  - name: a\n    program: a\n    test_run: {}\n" + regexp.MustCompile("(?m)^").ReplaceAllString(text, "    ")
		}
		text = "version: 1\nobjects: [bpf/a.o]\n" + strings.TrimRight(text, " ")
		if err := validate(t, text); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
		if _, err := load(text); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
	}
}

func TestKernelsAreNames(t *testing.T) {
	for text, want := range map[string][]string{
		"5.10":                     {"5.10"},
		`"5.10"`:                   {"5.10"},
		"host":                     {"host"},
		"[5.10]":                   {"5.10"},
		"[5.10, 6.1, \"6.10\", 7]": {"5.10", "6.1", "6.10", "7"},
		"\n  - 6.20\n  - host":     {"6.20", "host"},
	} {
		text = "version: 1\nkernels: " + text + "\nobjects: [bpf/a.o]\nbenchmarks:\n  - {name: a, program: p, test_run: {}}\n"
		s, err := load(text)
		if err != nil || !slices.Equal(s.Kernels, want) {
			t.Errorf("%s: got %v, error %v, want %v", text, s, err, want)
		}
		if err := validate(t, text); err != nil {
			t.Errorf("the schema refuses what the reader takes: %v", err)
		}
	}
}

func TestContextsAndDirections(t *testing.T) {
	text := `version: 1
objects: [bpf/a.o]
benchmarks:
  - {name: hex, program: p, test_run: {context: {hex: "00 11", size: 64}}}
  - {name: args, program: p, parallel: true, test_run: {context: {args: [1, 0x10, 18446744073709551615]}}}
  - {name: unquoted, program: p, test_run: {context: {hex: 0200000006000000}}}
  - {name: tc, program: p, veth: {mode: tc, direction: egress}}
`
	s, err := load(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate(t, text); err != nil {
		t.Errorf("the schema refuses what the reader takes: %v", err)
	}
	b := s.Benchmarks
	if c := b[0].TestRun.Context; c.Hex != "00 11" || c.Size != 64 {
		t.Errorf("context %+v", c)
	}
	if c := b[1].TestRun.Context; !slices.Equal(c.Args, []uint64{1, 16, 1<<64 - 1}) || !b[1].Parallel {
		t.Errorf("context %+v", c)
	}
	// What looks like a number still consists of digits.
	if c := b[2].TestRun.Context; c.Hex != "0200000006000000" {
		t.Errorf("context %+v", c)
	}
	if v := b[3].Veth; v.Mode != bench.TC || v.Direction != bench.Egress {
		t.Errorf("veth %+v", v)
	}
}

func TestLoadReportsEveryProblem(t *testing.T) {
	_, err := load("version: 1\nobjects: [nope.o]\nbenchmarks:\n  - {name: a, test_run: {}}\n  - {name: a, program: p, veth: {}, verify: {}}\n")
	for _, want := range []string{"nope.o", "names no program", "already used", "several drivers"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nlacks %q", err, want)
		}
	}
}

func TestLoadSurvivesAliasBomb(t *testing.T) {
	text := "version: 1\nbenchmarks: []\nobjects: &a0 [x]\n"
	bomb := "version: 1\nobjects:\n  - &a0 [x, x, x, x, x, x, x, x, x]\n"
	for i := range 12 {
		ref := "*a" + string(rune('0'+i%10))
		bomb += "  - &a" + string(rune('0'+(i+1)%10)) + " [" + strings.Repeat(ref+", ", 8) + ref + "]\n"
	}
	for _, in := range []string{text, bomb} {
		if _, err := load(in); err == nil {
			t.Error("a bomb of aliases is read as a suite")
		}
	}
}

// Only files are read; anything else is refused without delay.
func TestOnlyFilesAreRead(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{pipe, "/dev/zero", dir} {
		if _, err := fs.ReadFile(OS, name); err == nil || !strings.HasSuffix(err.Error(), name+" is not a regular file") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFilter(t *testing.T) {
	s, err := load(whole)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Filter(regexp.MustCompile("^nope$")); err == nil || !strings.Contains(bench.Hint(err), "xdp/basic") {
		t.Errorf("an empty selection: %v, hint %q", err, bench.Hint(err))
	}
	if err := s.Filter(regexp.MustCompile("^xdp/")); err != nil || len(s.Benchmarks) != 2 {
		t.Errorf("%v, %d benchmarks", err, len(s.Benchmarks))
	}
	if other := s.WithProgram("other"); other.Benchmarks[0].Program != "other" || s.Benchmarks[0].Program == "other" {
		t.Errorf("with another program %q, and that of the suite itself is %q", other.Benchmarks[0].Program, s.Benchmarks[0].Program)
	}
	if err := s.ErrorAt("xdp/veth", "program", "x"); !strings.Contains(err.Error(), "yml:22:") {
		t.Errorf("the line of a benchmark's key: %v", err)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(whole)
	f.Add("version: 1\nbenchmarks: [&a {name: *a}]")
	f.Add("<<: [{version: 1}]")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := load(text)
		if err == nil && len(s.Benchmarks) == 0 {
			t.Error("a suite without benchmarks is read as one")
		}
	})
}

// Where os.File would wait for data, a read fails, as of /proc/kmsg.
func TestReadingNeverWaits(t *testing.T) {
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	defer writer.Close()
	raw, err := reader.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := writer.WriteString("a line"); err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(unwaiting{raw})
	if string(data) != "a line" || !errors.Is(err, syscall.EAGAIN) {
		t.Errorf("read %q, %v", data, err)
	}
}
