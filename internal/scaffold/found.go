package scaffold

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/input"
	"github.com/org/ebpf-bench-action/internal/strictyaml"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/internal/workload/packet"
	"github.com/org/ebpf-bench-action/runner"
)

// Found holds the contents of a suite of inputs that a search found.
type Found struct {
	// Searched is the suite whose benchmarks were searched.
	Searched *suite.Suite
	Search   *bench.Search
	// Folder is where the suite will be, empty for that of the searched one.
	Folder string
}

const foundHead = `# Inputs on which programs cost most, and which reach the rest of them. Written by
# ebpf-bench search; "sudo ebpf-bench run" measures them.
`

// ErrNothingFound says that a search found no input.
var ErrNothingFound = errors.New("no input was found")

// Text returns the suite file.
func (f *Found) Text() (string, error) {
	objects := map[string]string{} // their names in the suite, by those in the searched one
	w := &writer{}
	for i := range f.Search.Programs {
		p, err := &f.Search.Programs[i], error(nil)
		if len(p.Inputs) == 0 {
			continue
		}
		if objects[p.Object], err = f.Searched.FromFolder(p.Object, f.Folder); err != nil {
			return "", err
		}
	}
	if len(objects) == 0 {
		return "", ErrNothingFound
	}
	w.raw("# yaml-language-server: $schema=" + suite.SchemaURL + "\n#\n" + foundHead)
	w.line(0, "version: %d", suite.Version)
	w.raw("\nobjects:\n")
	for i := range f.Searched.Objects {
		if name, ok := objects[f.Searched.Objects[i].Path]; ok {
			w.line(2, "- %s", scalar(input.EscapeGlob(name)))
		}
	}
	w.raw("\nbenchmarks:\n")
	for i := range f.Search.Programs {
		p := &f.Search.Programs[i]
		for i := range p.Inputs {
			if i == 0 {
				w.comment(2, fmt.Sprintf("%s: %d of %s reached. The same again: ebpf-bench search --runs %d --seed %d.", p.Program, p.Blocks.Reached, unit.Plural(p.Blocks.Reachable(), "block"), p.Tried, f.Search.Seed))
			}
			if err := f.input(w, p, &p.Inputs[i], func(n *yaml.Node) {
				if strictyaml.Set(n, "object", nil); len(objects) > 1 {
					strictyaml.Set(n, "object", text(objects[p.Object]))
				}
			}); err != nil {
				return "", err
			}
			w.raw("\n")
		}
	}
	return strings.TrimSuffix(w.String(), "\n"), nil
}

// input writes a benchmark for an input of a program, which edit gets before.
func (f *Found) input(w *writer, p *bench.Searched, in *bench.FoundInput, edit func(*yaml.Node)) error {
	n, err := f.Searched.Written(p.Benchmark, f.Folder)
	if err != nil {
		return err
	}
	entries, err := runner.Entries(f.Searched.Objects)
	if err != nil {
		return err
	}
	parses := map[string]bool{}
	for i := range entries {
		if e := &entries[i]; e.Object == p.Object {
			parses[e.Program] = e.Packets
		}
	}
	edit(n)
	keepPrepared(n, parses)
	w.comment(2, costOf(p, in))
	return w.node(2, given(n, p, in))
}

// Add adds to each benchmark the inputs besides its own that a search of the suite found.
func (s *Suite) Add(found *Found) error {
	for i := range found.Search.Programs {
		p := &found.Search.Programs[i]
		at := slices.IndexFunc(s.Programs, func(has Program) bool { return has.Benchmark == p.Benchmark })
		if at < 0 || p.Error != "" {
			continue
		}
		to := &s.Programs[at]
		for i := range p.Inputs {
			in := &p.Inputs[i]
			if in.Name == bench.InputDefault {
				continue
			}
			w := &writer{}
			if p.Inputs[0].Name != bench.InputDefault {
				// What it reaches that the benchmark itself does not is unknown.
				in.Lines = nil
			}
			if err := found.input(w, p, in, func(*yaml.Node) {}); err != nil {
				return err
			}
			to.Inputs = append(to.Inputs, Input{Benchmark: nameOf(p, in), text: w.String()})
		}
		if len(to.Inputs) > 0 || p.Blocks.Default < p.Blocks.Reachable() {
			to.Searched = fmt.Sprintf("A search of %s reached %d of %s, of which the benchmark above reaches %d.", unit.Plural(p.Tried, "input"), p.Blocks.Reached, unit.Plural(p.Blocks.Reachable(), "block"), p.Blocks.Default)
		}
	}
	return nil
}

// nameOf returns the name of the benchmark of an input.
func nameOf(p *bench.Searched, in *bench.FoundInput) string { return p.Benchmark + "/" + in.Name }

// costOf says what an input costs, and what it reaches.
func costOf(p *bench.Searched, in *bench.FoundInput) string {
	base := 0.0
	if first := p.Inputs[0]; first.Name == bench.InputDefault {
		base = first.PerRun
	}
	what := unit.Mean(in.PerRun) + " BPF instructions per run"
	if base > 0 && in.Name != bench.InputDefault {
		what += ", " + unit.Change(in.PerRun/base-1)
	}
	if in.Dearest != nil && in.PerRun > base {
		what += ", most of it in " + in.Dearest.Place()
	}
	what += "; it returns " + unit.Few(p.Returned(in))
	if len(in.Lines) > 0 && in.Name != bench.InputDefault {
		what += ". Nothing above reaches " + bench.Places(in.Lines)
	}
	return what + "."
}

// keepPrepared writes down the packets of preparations that have none of their own, which
// are those that drove the benchmark until now.
func keepPrepared(n *yaml.Node, parses map[string]bool) {
	all := strictyaml.Get(n, "prepare")
	if all == nil {
		return
	}
	var packets *yaml.Node
	for _, driver := range bench.Drivers() {
		if packets == nil {
			packets = strictyaml.Get(strictyaml.Get(n, driver), "packets")
		}
	}
	if packets == nil {
		packets = new(yaml.Node)
		if err := yaml.Unmarshal([]byte("[{ipv4: {}, udp: {}, size: 64}]"), packets); err != nil {
			panic(err)
		}
		packets = packets.Content[0]
	}
	for _, prepare := range all.Content {
		if name := strictyaml.Get(prepare, "program"); name != nil && parses[name.Value] && strictyaml.Get(prepare, "packets") == nil {
			strictyaml.Set(prepare, "packets", packets)
		}
	}
}

// given returns a benchmark with an input in place of its own.
func given(n *yaml.Node, p *bench.Searched, in *bench.FoundInput) *yaml.Node {
	mapping := func(pairs ...*yaml.Node) *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode, Content: pairs} }
	quoted := func(digits string) *yaml.Node {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: digits}
	}
	drive := strictyaml.Get(n, bench.DriverTestRun)
	if drive == nil || drive.Kind != yaml.MappingNode {
		drive = mapping()
	}
	for _, key := range append(bench.Drivers(), "parallel") {
		strictyaml.Set(n, key, nil)
	}
	packets := &yaml.Node{Kind: yaml.SequenceNode}
	for _, digits := range in.Packets {
		one := mapping(text("hex"), quoted(digits))
		if frame, err := hex.DecodeString(digits); err == nil {
			one.HeadComment = "# " + packet.Describe(frame)
		}
		packets.Content = append(packets.Content, one)
	}
	if len(in.Packets) == 0 {
		packets = nil
	}
	strictyaml.Set(drive, "packets", packets)
	if in.Context != "" {
		strictyaml.Set(drive, "context", mapping(text("hex"), quoted(in.Context)))
	}
	if in.Fresh {
		strictyaml.Set(drive, "repeat", number(max(len(in.Packets), 1)))
		strictyaml.Set(n, "state", text(string(bench.StateFresh)))
	}
	if old := strictyaml.Get(drive, "repeat"); old != nil {
		if n, err := strconv.Atoi(old.Value); err == nil && n < len(in.Packets) {
			strictyaml.Set(drive, "repeat", number(len(in.Packets)))
		}
	}
	drive.Style, n.Style = 0, 0
	strictyaml.Set(n, "name", text(nameOf(p, in)))
	for _, e := range in.Entries {
		maps := within(n, "maps", yaml.MappingNode)
		entries := within(within(maps, e.Map, yaml.MappingNode), "entries", yaml.SequenceNode)
		entry := mapping(text("key"), quoted(e.Key), text("value"), quoted(e.Value))
		entry.Style = yaml.FlowStyle
		entries.Content = append(entries.Content, entry)
	}
	strictyaml.Set(n, bench.DriverTestRun, drive)
	return n
}

// within returns the collection at a key of a mapping, which it makes if there is none.
func within(mapping *yaml.Node, key string, kind yaml.Kind) *yaml.Node {
	n := strictyaml.Get(mapping, key)
	if n == nil || n.Kind != kind {
		n = &yaml.Node{Kind: kind}
		strictyaml.Set(mapping, key, n)
	}
	n.Style = 0
	return n
}

func text(s string) *yaml.Node {
	n := new(yaml.Node)
	n.SetString(s)
	return n
}

func number(n int) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: strconv.Itoa(n)} }

// node writes an item of a list.
func (w *writer) node(indent int, n *yaml.Node) error {
	var b strings.Builder
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode([]*yaml.Node{n}); err != nil {
		return fmt.Errorf("write benchmark: %w", err)
	}
	for line := range strings.Lines(b.String()) {
		if line != "\n" {
			line = strings.Repeat(" ", indent) + line
		}
		w.raw(line)
	}
	return nil
}

// Pcap writes the packets of all inputs, in turn.
func (f *Found) Pcap(w io.Writer) error {
	var frames [][]byte
	for i := range f.Search.Programs {
		for _, in := range f.Search.Programs[i].Inputs {
			for _, digits := range in.Packets {
				frame, err := hex.DecodeString(digits)
				if err != nil {
					return err
				}
				frames = append(frames, frame)
			}
		}
	}
	if len(frames) == 0 {
		return fmt.Errorf("%w that has packets", ErrNothingFound)
	}
	return packet.WritePcap(w, frames)
}
