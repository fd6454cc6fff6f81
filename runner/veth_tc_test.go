package runner

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/object"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
	"github.com/org/ebpf-bench-action/runner/internal/subject"
)

func TestVethMeasuresTCPrograms(t *testing.T) {
	for _, mode := range []bench.VethMode{bench.TC, bench.TCX} {
		for _, hook := range []bench.Hook{bench.Ingress, bench.Egress} {
			t.Run(fmt.Sprint(mode, "/", hook), func(t *testing.T) {
				testenv.Probe(t, string(mode))
				j := resolved(t, &ebpf.ProgramSpec{Type: ebpf.SchedCLS, Instructions: returns(0)},
					bench.Benchmark{Veth: &bench.Veth{Mode: mode, Direction: hook, Count: 500}})
				r := measureJob(t, j)
				if r.Error != "" {
					t.Fatalf("%s (%s)", r.Error, r.Hint)
				}
				if tr := r.Traffic; tr == nil || tr.Sent != 8*500 || tr.Run != tr.Sent || tr.Sender != "af_packet" {
					t.Errorf("traffic %+v, want 4,000 packets sent and run", tr)
				}
				for _, name := range []string{"latency", "latency-floor", "throughput", "bpf-insns"} {
					if s := r.Sample(name); s == nil || len(s.Values) == 0 {
						t.Errorf("no %s: %q", name, r.Warnings)
					}
				}
			})
		}
	}
}

// A program on a packet's path makes the path longer.
func TestThePathOfTC(t *testing.T) {
	testenv.Probe(t, "tc")
	for _, hook := range []bench.Hook{bench.Ingress, bench.Egress} {
		j := resolved(t, &ebpf.ProgramSpec{Type: ebpf.SchedCLS, Instructions: returns(0)},
			bench.Benchmark{Veth: &bench.Veth{Direction: hook}})
		onThread(t, func(env *driver.Environment) {
			s, err := subject.Open(t.Context(), env, j)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			events, attached, detached, err := timePath(t.Context(), s.Driver.(driver.PathDriver))
			if err != nil {
				t.Fatalf("%s: %v", hook, err)
			}
			if events != 1 || slices.Min(attached) == 0 || slices.Min(detached) == 0 {
				t.Errorf("%s: %d events; rounds took %v with the program, %v without", hook, events, attached, detached)
			}
		})
	}
}

func TestVethRefuses(t *testing.T) {
	for _, c := range []struct {
		typ  ebpf.ProgramType
		veth bench.Veth
		want string
	}{
		{ebpf.SocketFilter, bench.Veth{}, "veth drives programs of the types xdp and sched_cls"},
		{ebpf.SchedCLS, bench.Veth{Mode: bench.XDPNative}, "tc and tcx attach this one"},
		{ebpf.XDP, bench.Veth{Mode: bench.TCX}, "native and generic attach this one"},
		{ebpf.XDP, bench.Veth{Direction: bench.Egress}, "direction egress is for tc programs"},
		{ebpf.SchedCLS, bench.Veth{Sender: "live_frames"}, "live_frames reach xdp programs only"},
	} {
		_, err := tryJob(&ebpf.ProgramSpec{Type: c.typ, Instructions: returns(0)}, bench.Benchmark{Veth: &c.veth})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %+v: got %v, want an error with %q", object.TypeName(c.typ), c.veth, err, c.want)
		}
	}
}
