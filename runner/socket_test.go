package runner

import (
	"errors"
	"fmt"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
	"github.com/org/ebpf-bench-action/runner/internal/host"
	"github.com/org/ebpf-bench-action/runner/internal/subject"
)

// messagesOfTest is the number of messages in a slice of a test.
const messagesOfTest = 20

// hookCase is a hook, and how often a program runs there per message.
type hookCase struct {
	name   string
	typ    ebpf.ProgramType
	attach ebpf.AttachType
	driver string
	talk   bench.Exchange
	runs   uint64
}

// jobOf returns a job of a program with one verdict.
func (c hookCase) jobOf(verdict int32) *Job {
	return c.job(asm.Instructions{asm.Mov.Imm(asm.R0, verdict), asm.Return()})
}

func (c hookCase) job(insns asm.Instructions, maps ...*ebpf.MapSpec) *Job {
	insns[0] = insns[0].WithSymbol("tested")
	spec := &ebpf.CollectionSpec{
		Maps: map[string]*ebpf.MapSpec{},
		Programs: map[string]*ebpf.ProgramSpec{"tested": {
			Name: "tested", Type: c.typ, AttachType: c.attach, License: "GPL", SectionName: c.name, Instructions: insns,
		}},
		Variables: map[string]*ebpf.VariableSpec{},
	}
	for _, m := range maps {
		spec.Maps[m.Name] = m
	}
	b := &bench.Benchmark{Name: c.name, Program: "tested"}
	b.SetDriver(c.driver)
	c.talk.Count = messagesOfTest
	if b.Cgroup != nil {
		*b.Cgroup = c.talk
	} else {
		*b.Socket = c.talk
	}
	b.SetDriverDefaults()
	return &Job{Benchmark: b, Spec: spec}
}

// slicesOf returns slices of a job's program, which the test closes.
func slicesOf(t *testing.T, j *Job, n int) []subject.Slice {
	t.Helper()
	testenv.Root(t)
	if err := j.CheckDriver(); err != nil {
		t.Fatal(err)
	}
	stats, err := driver.EnableStats()
	if err != nil {
		t.Fatal(err)
	}
	defer stats.Close()
	env := &driver.Environment{}
	defer env.LeaveHooks()
	s, err := subject.Open(t.Context(), env, j)
	var old *host.TooOldError
	if errors.As(err, &old) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	var all []subject.Slice
	for range n {
		one, err := s.Slice(t.Context())
		if err != nil {
			s.Close()
			t.Fatal(err)
		}
		all = append(all, one)
	}
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	return all
}

// runsEach checks how often a hook's program runs per message.
func runsEach(t *testing.T, cases []hookCase) {
	for _, c := range cases {
		t.Run(fmt.Sprintf("%s %s ipv6 %t", c.name, c.talk.Protocol, c.talk.IPv6), func(t *testing.T) {
			for i, s := range slicesOf(t, c.jobOf(1), 3) {
				if s.RunCnt != c.runs*messagesOfTest {
					t.Errorf("slice %d has %d runs for %d messages, want %d each", i, s.RunCnt, messagesOfTest, c.runs)
				}
				if s.Done != messagesOfTest {
					t.Errorf("slice %d: %d of %d messages came off", i, s.Done, s.Tried)
				}
			}
		})
	}
}

func TestSocketProgramsRunForEachMessage(t *testing.T) {
	tcp, udp := bench.Exchange{Protocol: bench.ProtocolTCP}, bench.Exchange{Protocol: bench.ProtocolUDP}
	udp6 := bench.Exchange{Protocol: bench.ProtocolUDP, IPv6: true}
	socket := bench.DriverSocket
	runsEach(t, []hookCase{
		{"sk_msg", ebpf.SkMsg, ebpf.AttachSkMsgVerdict, socket, tcp, 1},
		{"sk_skb", ebpf.SkSKB, ebpf.AttachNone, socket, tcp, 1},
		{"sk_skb/stream_verdict", ebpf.SkSKB, ebpf.AttachSkSKBStreamVerdict, socket, tcp, 1},
		{"sk_skb/verdict", ebpf.SkSKB, ebpf.AttachSkSKBVerdict, socket, tcp, 1},
		{"sk_skb/verdict", ebpf.SkSKB, ebpf.AttachSkSKBVerdict, socket, udp, 1},
		{"sk_reuseport", ebpf.SkReuseport, ebpf.AttachSkReuseportSelect, socket, udp, 1},
		{"sk_reuseport", ebpf.SkReuseport, ebpf.AttachSkReuseportSelect, socket, udp6, 1},
		{"sk_reuseport", ebpf.SkReuseport, ebpf.AttachSkReuseportSelect, socket, tcp, 1},
		{"sk_reuseport/migrate", ebpf.SkReuseport, ebpf.AttachSkReuseportSelectOrMigrate, socket, udp, 1},
		{"sk_lookup", ebpf.SkLookup, ebpf.AttachSkLookup, socket, udp, 1},
		{"sk_lookup", ebpf.SkLookup, ebpf.AttachSkLookup, socket, udp6, 1},
		{"sk_lookup", ebpf.SkLookup, ebpf.AttachSkLookup, socket, tcp, 1},
	})
}

func TestAStreamParserRunsForEachMessage(t *testing.T) {
	c := hookCase{"sk_skb/stream_parser", ebpf.SkSKB, ebpf.AttachSkSKBStreamParser, bench.DriverSocket, bench.Exchange{}, 1}
	wholeLength := asm.Instructions{asm.LoadMem(asm.R0, asm.R1, 0, asm.Word), asm.Return()}
	for i, s := range slicesOf(t, c.job(wholeLength), 3) {
		if s.RunCnt != messagesOfTest {
			t.Errorf("slice %d has %d runs for %d messages", i, s.RunCnt, messagesOfTest)
		}
	}
}
