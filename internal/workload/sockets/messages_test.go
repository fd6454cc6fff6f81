package sockets

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

// talks returns exchanges of each protocol over each version of IP.
func talks() (all []bench.Exchange) {
	for _, protocol := range []bench.Protocol{bench.ProtocolTCP, bench.ProtocolUDP} {
		for _, ipv6 := range []bool{false, true} {
			all = append(all, bench.Exchange{Protocol: protocol, Size: 100, Count: 10, Port: 443, IPv6: ipv6})
		}
	}
	return all
}

func newNetwork(t *testing.T) *Network {
	t.Helper()
	testenv.Root(t)
	n, err := NewNetwork()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return n
}

func TestEachMessageIsAnswered(t *testing.T) {
	for _, talk := range talks() {
		t.Run(fmt.Sprintf("%s ipv6 %t", talk.Protocol, talk.IPv6), func(t *testing.T) {
			n := newNetwork(t)
			server, err := n.Serve(talk, 1)
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			m, err := server.Messages()
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			for _, times := range []int{1, 0, 100} {
				if got, err := m.Do(t.Context(), times); err != nil || got != times {
					t.Errorf("%d of %d messages were answered: %v", got, times, err)
				}
			}
			if port := peerPort(t, m.sockets[0]); port != talk.Port {
				t.Errorf("messages are sent to port %d, want %d", port, talk.Port)
			}
		})
	}
}

func peerPort(t *testing.T, fd int) int {
	t.Helper()
	switch a, err := unix.Getpeername(fd); a := a.(type) {
	case *unix.SockaddrInet4:
		return a.Port
	case *unix.SockaddrInet6:
		return a.Port
	default:
		t.Fatalf("no address of a peer: %v", err)
		return 0
	}
}

func TestAProxyTalksToItsClient(t *testing.T) {
	for _, talk := range talks() {
		t.Run(fmt.Sprintf("%s ipv6 %t", talk.Protocol, talk.IPv6), func(t *testing.T) {
			p, err := newNetwork(t).Proxy(talk)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			for name, m := range map[string]*Messages{"sent": p.Sent(), "received": p.Received()} {
				if got, err := m.Do(t.Context(), 10); err != nil || got != 10 {
					t.Errorf("%d of 10 messages that it %s were answered: %v", got, name, err)
				}
			}
		})
	}
}

// Answers that never come are soon no longer waited for, unless they must come.
func TestMessagesThatNobodyAnswers(t *testing.T) {
	talk := bench.Exchange{Protocol: bench.ProtocolUDP, Size: 10, Port: 7}
	n := newNetwork(t)
	server, err := n.Serve(talk, 1)
	if err != nil {
		t.Fatal(err)
	}
	m, err := server.Messages()
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	// The client takes no answers.
	nothing := []unix.SockFilter{{Code: unix.BPF_RET | unix.BPF_K}}
	err = unix.SetsockoptSockFprog(m.sockets[0], unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: 1, Filter: &nothing[0]})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := m.Do(t.Context(), 2000); err != nil || got != 0 {
		t.Errorf("%d messages were answered: %v", got, err)
	}
	m.Reliable = true
	if got, err := m.Do(t.Context(), 2); got != 0 || !errors.Is(err, errNoProgress) {
		t.Errorf("%d messages were answered: %v", got, err)
	}
}

func TestPatienceEnds(t *testing.T) {
	var p patience
	var waited time.Duration
	for range 1000 {
		waited += p.time()
		p.answered(false, 0)
	}
	if waited == 0 || waited > 700*time.Millisecond {
		t.Errorf("a program that drops everything is waited for %v", waited)
	}
	if p.answered(true, 0); p.time() == 0 {
		t.Error("an answer does not make it wait again")
	}
}
