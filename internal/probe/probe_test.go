package probe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
)

func TestRunReadsABrokenProbeAsUnknown(t *testing.T) {
	for _, c := range []struct {
		name   string
		err    error
		answer Answer
		cost   string
		fix    string
	}{
		{"nil", nil, Yes, "", ""},
		{"lacking", lacking("no %s here", "such thing"), No, "much", "buy it"},
		{"cilium/ebpf", fmt.Errorf("tcx: %w", ebpf.ErrNotSupported), No, "much", "buy it"},
		{"lacking by errno", lackingIf(unix.EINVAL, unix.ENOENT, unix.EINVAL), No, "much", "buy it"},
		{"another errno", lackingIf(unix.EIO, unix.ENOENT, unix.EINVAL), Unknown, "much", ""},
		{"inconclusive", inconclusive(lacking("no such thing")), Unknown, "much", ""},
		{"io", errors.New("disk on fire"), Unknown, "much", ""},
		{"hint", bench.WithHint(lacking("gone"), "look there"), No, "much", "look there"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := Probe{Name: c.name, For: "tests", Cost: "much", Fix: "buy it", check: func() error { return c.err }}
			f := p.Run(t.Context())
			if f.Answer != c.answer || f.Cost != c.cost || f.Fix != c.fix {
				t.Errorf("answers %s, cost %q, fix %q; want %s, %q, %q", f.Answer, f.Cost, f.Fix, c.answer, c.cost, c.fix)
			}
			want := ""
			if c.err != nil {
				want = c.err.Error()
			}
			if f.Reason != want {
				t.Errorf("reason is %q, want %q", f.Reason, want)
			}
		})
	}
}

func TestRunReadsARefusalByWhoAsks(t *testing.T) {
	p := Probe{Name: "refused", check: func() error { return fmt.Errorf("bpf: %w", unix.EPERM) }}
	missing, err := Capabilities()
	if err != nil {
		t.Fatal(err)
	}
	want := No
	if len(missing) > 0 {
		want = Unknown
	}
	if f := p.Run(t.Context()); f.Answer != want || f.Fix == "" {
		t.Errorf("answers %s with fix %q while %v is missing, want %s and a fix", f.Answer, f.Fix, missing, want)
	}
}

func TestLackingKeepsItsCause(t *testing.T) {
	err := fmt.Errorf("probe: %w", lacking("open: %w", fs.ErrNotExist))
	if !errors.Is(err, ebpf.ErrNotSupported) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v is not both ErrNotSupported and ErrNotExist", err)
	}
	if want := "probe: open: file does not exist"; err.Error() != want {
		t.Errorf("reads %q, want %q", err, want)
	}
	if err := lackingIf(nil, fs.ErrNotExist); err != nil {
		t.Errorf("made %v from nil", err)
	}
}

func TestDoctorAsksNothingOnceCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, f := range Doctor(ctx) {
		if f.Answer != Unknown || f.Reason != context.Canceled.Error() {
			t.Errorf("%s answers %s: %s", f.Name, f.Answer, f.Reason)
		}
	}
}

func TestFindingAsJSON(t *testing.T) {
	p := Probe{Name: "tcx", For: "tc programs", Cost: "none", Fix: "boot", check: func() error { return lacking("too old") }}
	got, err := json.Marshal(p.Run(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"name":"tcx","for":"tc programs","cost":"none","fix":"boot","answer":"no","reason":"too old"}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestProbesSayWhatTheyAreFor(t *testing.T) {
	names := make(map[string]bool)
	for _, p := range Probes() {
		if p.Name == "" || names[p.Name] {
			t.Errorf("%q is not the name of one probe", p.Name)
		}
		names[p.Name] = true
		if p.For == "" || p.Cost == "" || p.Fix == "" || p.check == nil {
			t.Errorf("%s is incomplete: %+v", p.Name, p)
		}
	}
}
