package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/runner"
)

// objectsReport is which programs load on one kernel.
type objectsReport struct {
	Version int           `json:"version"`
	Tool    string        `json:"tool"`
	Testbed bench.Testbed `json:"testbed"`
	Total   objectsTotal  `json:"total"`
	// Unread says of objects that cannot be read why, by name.
	Unread   map[string]string `json:"unread,omitempty"`
	Programs []objectsProgram  `json:"programs"`
}

// objectsTotal are the numbers of programs.
type objectsTotal struct {
	Programs int `json:"programs"`
	// Cilium and Libbpf are those that the kernel takes from these as they are,
	// Taken those that it takes from either, TakenHere those of them that load
	// here.
	Cilium    int `json:"cilium"`
	Libbpf    int `json:"libbpf"`
	Taken     int `json:"taken"`
	TakenHere int `json:"taken_here"`
	// Named are those of them that do not, with a reason that says what is
	// missing here or there.
	Named int `json:"named"`
	// Loads are all that load here, Changed those with changes, and Only those
	// that load nowhere else.
	Loads   int `json:"loads"`
	Changed int `json:"changed"`
	Only    int `json:"only"`
}

// objectsProgram is how one program loads.
type objectsProgram struct {
	Object  string `json:"object"`
	Program string `json:"program"`
	Type    string `json:"type"`
	// Cilium and Libbpf say who can load it as it is; libbpf loads an object as
	// a whole.
	Cilium bool `json:"cilium"`
	Libbpf bool `json:"libbpf"`
	Loads  bool `json:"loads"`
	// Changes are what it took to load here.
	Changes []string `json:"changes,omitempty"`
	// Class, Why and Hint say why it does not load here.
	Class string `json:"class,omitempty"`
	Why   string `json:"why,omitempty"`
	Hint  string `json:"hint,omitempty"`
}

// taken tells whether the kernel takes the program as it is.
func (p *objectsProgram) taken() bool { return p.Cilium || p.Libbpf }

// named tells whether the program does not load here for a reason of its own.
func (p *objectsProgram) named() bool {
	return !p.Loads && p.Class != runner.LoadClass(nil) && p.Class != classUnreadable
}

// classUnreadable is the class of objects that cannot be read here.
const classUnreadable = "the object cannot be read"

// lost is how many programs the kernel takes as they are that neither load here
// nor have a reason why not.
func (t *objectsTotal) lost() int { return t.Taken - t.TakenHere - t.Named }

// sum makes the totals.
func (r *objectsReport) sum() {
	t := objectsTotal{Programs: len(r.Programs)}
	for i := range r.Programs {
		p := &r.Programs[i]
		t.Cilium += ones(p.Cilium)
		t.Libbpf += ones(p.Libbpf)
		t.Taken += ones(p.taken())
		t.TakenHere += ones(p.taken() && p.Loads)
		t.Named += ones(p.taken() && p.named())
		t.Loads += ones(p.Loads)
		t.Changed += ones(p.Loads && len(p.Changes) > 0)
		t.Only += ones(p.Loads && !p.taken())
	}
	r.Total = t
}

// rename gives the objects other names.
func (r *objectsReport) rename(name func(object string) string) {
	r.Unread = renamed(r.Unread, name)
	for i := range r.Programs {
		r.Programs[i].Object = name(r.Programs[i].Object)
	}
}

const objectsLegend = `cilium and libbpf are the programs that the kernel takes from cilium/ebpf and
libbpf as they are; libbpf loads an object as a whole. taken are those of either,
loaded those of them that load here, or named that have a reason why not. all are
all that load here, changed those that take changes for it, and only here those
that load nowhere else.`

const objectsColumns = "kernel\tprograms\tcilium\tlibbpf\ttaken\tloaded\tor named\tall\tchanged\tonly here"

func printObjects(w io.Writer, reports []*objectsReport) error {
	return printTested(w, objectsColumns, reports, objectsLegend)
}

func (r *objectsReport) row() string {
	t := &r.Total
	return fmt.Sprintf("%s\t%d\t%d\t%d\t%d\t%s\t%d\t%d\t%d\t%d", ui.Clean(r.Testbed.Kernel),
		t.Programs, t.Cilium, t.Libbpf, t.Taken, countOf(t.TakenHere, t.Taken), t.Named, t.Loads, t.Changed, t.Only)
}

// details are the programs that do not load, by the class of their reasons, and
// the objects that cannot be read.
func (r *objectsReport) details(b *strings.Builder) {
	fmt.Fprintf(b, "\nLinux %s\n", ui.Clean(r.Testbed.Kernel))
	classes := map[string][]*objectsProgram{}
	for i := range r.Programs {
		if p := &r.Programs[i]; !p.Loads {
			classes[p.Class] = append(classes[p.Class], p)
		}
	}
	for _, class := range slices.Sorted(maps.Keys(classes)) {
		fmt.Fprintf(b, "  %s: %d\n", class, len(classes[class]))
		for _, p := range classes[class] {
			lost := ""
			if p.taken() {
				lost = "TAKEN AS IT IS: "
			}
			fmt.Fprintf(b, "    %s %s: %s%s\n", ui.Clean(p.Object), ui.Clean(p.Program), lost, ui.Clean(p.Why))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Unread)) {
		fmt.Fprintf(b, "  %s: not read: %s\n", ui.Clean(name), ui.Clean(r.Unread[name]))
	}
}
