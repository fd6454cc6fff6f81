//go:build linux

package funxdp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"golang.org/x/sys/unix"
)

const (
	nothing Event = bpfEventNOTHING

	xdpAborted = 0
	xdpPass    = 2
)

var programs = []string{
	bpfProgFunXdpBasic,
	bpfProgFunXdpFizz,
	bpfProgFunXdpFizzbuzz,
	bpfProgFunXdpFibonacciSlow,
	bpfProgFunXdpFibonacci,
}

func load(tb testing.TB) *ebpf.Collection {
	tb.Helper()
	testenv.Root(tb)

	spec, err := loadBpf()
	if err != nil {
		tb.Fatal(err)
	}
	coll, err := ebpf.NewCollection(spec)
	if err != nil {
		tb.Fatalf("%+v", err)
	}
	tb.Cleanup(coll.Close)
	return coll
}

const (
	ethLen  = 14
	ipv4Len = 20
)

// frame returns the shortest frame that holds an IPv4 header.
func frame(src netip.Addr) []byte {
	f := make([]byte, ethLen+ipv4Len)
	binary.BigEndian.PutUint16(f[12:], unix.ETH_P_IP)
	f[ethLen] = 0x45
	copy(f[ethLen+12:], src.AsSlice())
	return f
}

// addr returns the address that is n as a number.
func addr(n uint32) netip.Addr {
	return netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, n)))
}

func run(tb testing.TB, prog *ebpf.Program, packet []byte) uint32 {
	tb.Helper()
	verdict, _, err := prog.Test(packet)
	if err != nil {
		tb.Fatal(err)
	}
	return verdict
}

// pop takes the next event from the queue, or nothing when it is empty.
func pop(tb testing.TB, coll *ebpf.Collection) Event {
	tb.Helper()
	var event Event
	err := coll.Maps[bpfMapEvents].LookupAndDelete(nil, &event)
	if errors.Is(err, ebpf.ErrKeyNotExist) {
		return nothing
	}
	if err != nil {
		tb.Fatal(err)
	}
	return event
}

func TestVerdict(t *testing.T) {
	coll := load(t)

	ipv4 := frame(addr(1))
	ipv6 := frame(addr(1))
	binary.BigEndian.PutUint16(ipv6[12:], unix.ETH_P_IPV6)

	// The kernel runs no XDP program on less than an Ethernet header, so the
	// shortest packet here is one.
	for _, tc := range []struct {
		name   string
		packet []byte
		want   uint32
	}{
		{"shortest IPv4", ipv4, xdpPass},
		{"IPv4 with payload", append(ipv4[:len(ipv4):len(ipv4)], make([]byte, 30)...), xdpPass},
		{"IPv4 header one byte short", ipv4[:len(ipv4)-1], xdpAborted},
		{"no IPv4 header", ipv4[:ethLen], xdpAborted},
		{"not IPv4", ipv6, xdpPass},
		{"not IPv4 and short", ipv6[:ethLen], xdpPass},
	} {
		for _, name := range programs {
			t.Run(tc.name+"/"+name, func(t *testing.T) {
				if got := run(t, coll.Programs[name], tc.packet); got != tc.want {
					t.Errorf("got verdict %d, want %d", got, tc.want)
				}
			})
		}
	}
}

func TestBasicCountsEachSource(t *testing.T) {
	coll := load(t)
	prog := coll.Programs[bpfProgFunXdpBasic]

	want := map[netip.Addr]uint64{addr(1): 1, addr(2): 2, netip.MustParseAddr("10.0.0.254"): 3}
	for src, n := range want {
		for range n {
			run(t, prog, frame(src))
		}
	}
	for src, n := range want {
		var got uint64
		if err := coll.Maps[bpfMapSources].Lookup(src.As4(), &got); err != nil {
			t.Errorf("look up %s: %v", src, err)
		} else if got != n {
			t.Errorf("%s: counted %d packets, want %d", src, got, n)
		}
	}
}

func TestBasicCountsNewSourcesWhenFull(t *testing.T) {
	coll := load(t)
	prog, sources := coll.Programs[bpfProgFunXdpBasic], coll.Maps[bpfMapSources]

	for n := range sources.MaxEntries() + 1000 {
		src := addr(n)
		run(t, prog, frame(src))

		var got uint64
		if err := sources.Lookup(src.As4(), &got); err != nil || got != 1 {
			t.Fatalf("%s: counted %d packets: %v", src, got, err)
		}
	}
}

func TestEvents(t *testing.T) {
	coll := load(t)

	for _, tc := range []struct {
		program string
		source  string
		want    Event
	}{
		{bpfProgFunXdpBasic, "0.0.0.15", nothing},

		{bpfProgFunXdpFizz, "0.0.0.3", Fizz},
		{bpfProgFunXdpFizz, "0.0.0.5", nothing},
		{bpfProgFunXdpFizz, "0.0.0.15", Fizz},
		{bpfProgFunXdpFizz, "0.0.0.1", nothing},
		{bpfProgFunXdpFizz, "255.255.255.255", Fizz},

		{bpfProgFunXdpFizzbuzz, "0.0.0.3", Fizz},
		{bpfProgFunXdpFizzbuzz, "0.0.0.5", Buzz},
		{bpfProgFunXdpFizzbuzz, "0.0.0.15", FizzBuzz},
		{bpfProgFunXdpFizzbuzz, "0.0.0.1", nothing},
		// The whole address is the number, not its last octet:
		// 167772164 is not divisible by 3.
		{bpfProgFunXdpFizzbuzz, "10.0.0.4", nothing},
		{bpfProgFunXdpFizzbuzz, "10.0.0.2", Fizz},

		{bpfProgFunXdpFibonacci, "0.0.0.0", Fibonacci},
		{bpfProgFunXdpFibonacci, "0.0.0.55", Fibonacci},
		{bpfProgFunXdpFibonacci, "0.0.0.4", nothing},
		{bpfProgFunXdpFibonacci, "0.0.0.6", Fizz},
		{bpfProgFunXdpFibonacci, "0.0.0.10", Buzz},
		{bpfProgFunXdpFibonacci, "0.0.0.15", FizzBuzz},
		{bpfProgFunXdpFibonacci, "10.0.0.233", Fibonacci},
		{bpfProgFunXdpFibonacciSlow, "10.0.0.233", Fibonacci},
	} {
		t.Run(fmt.Sprintf("%s/%s", tc.program, tc.source), func(t *testing.T) {
			run(t, coll.Programs[tc.program], frame(netip.MustParseAddr(tc.source)))
			if got := pop(t, coll); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
			if more := pop(t, coll); more != nothing {
				t.Errorf("got a second event, %s", more)
			}
		})
	}
}

// reference returns what the Fibonacci programs report, by the sequence itself.
func reference(source uint32) Event {
	octet := source & 0xff
	for a, b := uint32(0), uint32(1); a <= octet; a, b = b, a+b {
		if a == octet {
			return Fibonacci
		}
	}
	return Classify(source)
}

func TestFibonacciSlowAndFastAgree(t *testing.T) {
	coll := load(t)

	for octet := range uint32(256) {
		source := 10<<24 | octet
		for _, name := range []string{bpfProgFunXdpFibonacciSlow, bpfProgFunXdpFibonacci} {
			run(t, coll.Programs[name], frame(addr(source)))
			if got, want := pop(t, coll), reference(source); got != want {
				t.Errorf("%s, octet %d: got %s, want %s", name, octet, got, want)
			}
		}
	}
}

// The slow program is a regression only while the compiler leaves its loops
// alone, so look for the jumps back.
func TestFibonacciSlowLoops(t *testing.T) {
	spec, err := loadBpf()
	if err != nil {
		t.Fatal(err)
	}
	for name, loops := range map[string]bool{
		bpfProgFunXdpFibonacciSlow: true,
		bpfProgFunXdpFibonacci:     false,
	} {
		if got := jumpsBack(spec.Programs[name]); got != loops {
			t.Errorf("%s has a loop: %t, want %t", name, got, loops)
		}
	}
}

func jumpsBack(prog *ebpf.ProgramSpec) bool {
	for _, ins := range prog.Instructions {
		op := ins.OpCode.JumpOp()
		if op != asm.InvalidJumpOp && op != asm.Call && op != asm.Exit && ins.Offset < 0 {
			return true
		}
	}
	return false
}
