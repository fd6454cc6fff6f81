package runner

import (
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
	"github.com/org/ebpf-bench-action/runner/internal/subject"
)

// openIn opens a job in an environment, until the test ends.
func openIn(t *testing.T, env *driver.Environment, j *Job) *subject.Subject {
	t.Helper()
	if err := j.CheckDriver(); err != nil {
		t.Fatal(err)
	}
	s, err := subject.Open(t.Context(), env, j)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// placesOf returns an environment whose places are closed when the test ends.
func placesOf(t *testing.T) *driver.Environment {
	t.Helper()
	testenv.Root(t)
	stats, err := driver.EnableStats()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stats.Close() })
	env := &driver.Environment{}
	t.Cleanup(func() {
		if err := env.LeaveHooks(); err != nil {
			t.Error(err)
		}
	})
	return env
}

// inStorage counts runs in the storage of the program's cgroup.
func inStorage() (asm.Instructions, *ebpf.MapSpec) {
	m := &ebpf.MapSpec{Name: "storage", Type: ebpf.CGroupStorage, KeySize: 16, ValueSize: 8}
	return asm.Instructions{
		asm.LoadMapPtr(asm.R1, 0).WithReference(m.Name),
		asm.Mov.Imm(asm.R2, 0),
		asm.FnGetLocalStorage.Call(),
		asm.Mov.Imm(asm.R1, 1),
		asm.StoreXAdd(asm.R0, asm.R1, asm.DWord),
		asm.Mov.Imm(asm.R0, 1),
		asm.Return(),
	}, m
}

// storedRuns returns the runs that a program has counted in its storage.
func storedRuns(t *testing.T, s *subject.Subject) (runs uint64) {
	t.Helper()
	var key [16]byte
	m := s.Coll.Maps["storage"]
	if err := m.NextKey(nil, &key); err != nil {
		t.Fatal(err)
	}
	if err := m.Lookup(key, &runs); err != nil {
		t.Fatal(err)
	}
	return runs
}

func TestProgramsOfOneHookRunOneAtATime(t *testing.T) {
	talk := bench.Exchange{Protocol: bench.ProtocolTCP}
	hook := hookCase{"cgroup/bind4", ebpf.CGroupSockAddr, ebpf.AttachCGroupInet4Bind, bench.DriverCgroup, talk, 1}
	env := placesOf(t)
	stores := func() *Job {
		insns, m := inStorage()
		return hook.job(insns, m)
	}
	var all []*subject.Subject
	for _, j := range []*Job{hook.jobOf(1), stores(), hook.jobOf(0), stores(), hook.jobOf(1)} {
		all = append(all, openIn(t, env, j))
	}
	for _, at := range []int{0, 4, 1, 3, 2, 0, 2, 2, 3, 1, 4} {
		others := map[int]driver.Counters{}
		for i, s := range all {
			now, err := driver.ReadCounters(s.Program)
			if err != nil {
				t.Fatal(err)
			}
			others[i] = now
		}
		s, err := all[at].Slice(t.Context())
		if err != nil {
			t.Fatalf("program %d: %v", at, err)
		}
		if want := messagesOfTest; s.RunCnt != uint64(want) || at != 2 && s.Done != uint64(want) || at == 2 && s.Done != 0 {
			t.Errorf("program %d ran %d times, and %d of %d sockets had an address", at, s.RunCnt, s.Done, want)
		}
		for i, other := range all {
			if now, err := driver.ReadCounters(other.Program); i != at && (err != nil || now != others[i]) {
				t.Errorf("program %d ran while program %d did: %v", i, at, err)
			}
		}
	}
	for _, i := range []int{1, 3} {
		if got := storedRuns(t, all[i]); got != 2*messagesOfTest {
			t.Errorf("program %d has counted %d runs in its storage, want %d", i, got, 2*messagesOfTest)
		}
	}
}

func TestAProgramThatEndsAConnectionEndsNoOther(t *testing.T) {
	hook := hookCase{"cgroup_skb/ingress", ebpf.CGroupSKB, ebpf.AttachCGroupInetIngress, bench.DriverCgroup, bench.Exchange{Protocol: bench.ProtocolTCP}, 0}
	env := placesOf(t)
	drops, passes := openIn(t, env, hook.jobOf(0)), openIn(t, env, hook.jobOf(1))
	for range 2 {
		if s, err := passes.Slice(t.Context()); err != nil || s.Done != messagesOfTest {
			t.Errorf("%d of %d messages were answered: %v", s.Done, messagesOfTest, err)
		}
		if _, err := drops.Slice(t.Context()); err == nil {
			t.Error("the connection got over a program that drops everything")
		}
	}
}

// The sockets of one program must not get what was sent for another.
func TestANetworkServesOneProgramAfterAnother(t *testing.T) {
	env := placesOf(t)
	for _, verdict := range []int32{1, 0, 1, 0, 1} {
		for _, hook := range []hookCase{
			{"sk_msg", ebpf.SkMsg, ebpf.AttachSkMsgVerdict, bench.DriverSocket, bench.Exchange{Protocol: bench.ProtocolTCP}, 1},
			{"sk_reuseport", ebpf.SkReuseport, ebpf.AttachSkReuseportSelect, bench.DriverSocket, bench.Exchange{Protocol: bench.ProtocolUDP}, 1},
			{"sk_reuseport", ebpf.SkReuseport, ebpf.AttachSkReuseportSelect, bench.DriverSocket, bench.Exchange{Protocol: bench.ProtocolTCP}, 1},
		} {
			j := hook.jobOf(verdict)
			if err := j.CheckDriver(); err != nil {
				t.Fatal(err)
			}
			s, err := subject.Open(t.Context(), env, j)
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.Slice(t.Context())
			if want := uint64(verdict) * messagesOfTest; err != nil || got.Done != want || got.RunCnt != messagesOfTest {
				t.Errorf("%s: %d runs for %d messages, %d answered, want %d: %v", hook.name, got.RunCnt, messagesOfTest, got.Done, want, err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
