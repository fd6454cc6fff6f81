package runner

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// redirect calls a helper that takes the context, a map, a key or a pointer to
// it, and flags. It returns the helper's result.
func redirect(helper asm.BuiltinFunc, table string, key int32, flags int32) asm.Instructions {
	insns := asm.Instructions{
		asm.StoreImm(asm.RFP, -4, int64(key), asm.Word),
		asm.LoadMapPtr(asm.R2, 0).WithReference(table),
	}
	if helper == asm.FnMsgRedirectMap || helper == asm.FnSkRedirectMap {
		insns = append(insns, asm.Mov.Imm(asm.R3, key))
	} else {
		insns = append(insns, asm.Mov.Reg(asm.R3, asm.RFP), asm.Add.Imm(asm.R3, -4))
	}
	return append(insns, asm.Mov.Imm(asm.R4, flags), helper.Call(), asm.Return())
}

// A program finds the tool's sockets in the map that it names, at the keys 0
// and 1, and messages that it redirects to them arrive.
func TestProgramsFindSocketsInTheirMaps(t *testing.T) {
	const ingress = 1
	tcp, udp := bench.Exchange{Protocol: bench.ProtocolTCP}, bench.Exchange{Protocol: bench.ProtocolUDP}
	sockets := func(typ ebpf.MapType, entries uint32) *ebpf.MapSpec {
		return &ebpf.MapSpec{Name: "sockets", Type: typ, KeySize: 4, ValueSize: 8, MaxEntries: entries}
	}
	msg := hookCase{"sk_msg", ebpf.SkMsg, ebpf.AttachSkMsgVerdict, bench.DriverSocket, tcp, 1}
	skb := hookCase{"sk_skb/stream_verdict", ebpf.SkSKB, ebpf.AttachSkSKBStreamVerdict, bench.DriverSocket, tcp, 1}
	port := hookCase{"sk_reuseport", ebpf.SkReuseport, ebpf.AttachSkReuseportSelect, bench.DriverSocket, udp, 1}
	// A redirect returns SK_DROP if no socket exists.
	for _, c := range []struct {
		hookCase
		insns asm.Instructions
		table *ebpf.MapSpec
		runs  uint64
	}{
		{msg, redirect(asm.FnMsgRedirectMap, "sockets", 1, 0), sockets(ebpf.SockMap, 2), 1},
		{msg, redirect(asm.FnMsgRedirectHash, "sockets", 1, 0), sockets(ebpf.SockHash, 16), 1},
		// The other socket of the proxy answers, and the program sees that,
		// too.
		{msg, redirect(asm.FnMsgRedirectHash, "sockets", 1, ingress), sockets(ebpf.SockHash, 16), 2},
		{skb, redirect(asm.FnSkRedirectMap, "sockets", 0, 0), sockets(ebpf.SockMap, 1), 1},
		// The server behind the proxy answers, and the program sees that, too.
		{skb, redirect(asm.FnSkRedirectHash, "sockets", 1, 0), sockets(ebpf.SockHash, 16), 2},
	} {
		t.Run(fmt.Sprintf("%s by %s", c.name, c.table.Type), func(t *testing.T) {
			j := c.job(c.insns, c.table)
			for i, s := range slicesOf(t, j, 2) {
				if s.RunCnt != c.runs*messagesOfTest || s.Done != messagesOfTest {
					t.Errorf("slice %d has %d runs, and %d of %d messages arrived", i, s.RunCnt, s.Done, s.Tried)
				}
			}
			if !slices.Contains(j.Warnings, "map sockets holds sockets of the exchange at the keys 0, 1 and so on: under other keys the program finds none") {
				t.Errorf("warnings: %q", j.Warnings)
			}
		})
	}
	t.Run("sk_reuseport", func(t *testing.T) {
		// select returns 0 if there is a socket; the program negates that.
		insns := redirect(asm.FnSkSelectReuseport, "sockets", 5, 0)
		insns = append(insns[:len(insns)-1], asm.JNE.Imm(asm.R0, 0, "drop"),
			asm.Mov.Imm(asm.R0, 1), asm.Return(), asm.Mov.Imm(asm.R0, 0).WithSymbol("drop"), asm.Return())
		for i, s := range slicesOf(t, port.job(insns, sockets(ebpf.ReusePortSockArray, 6)), 2) {
			if s.RunCnt != messagesOfTest || s.Done != messagesOfTest {
				t.Errorf("slice %d has %d runs, and %d of %d messages arrived", i, s.RunCnt, s.Done, s.Tried)
			}
		}
	})
}

func TestSkLookupIsDrivenBySocketsWhereTestRunIsMissing(t *testing.T) {
	c := hookCase{"sk_lookup", ebpf.SkLookup, ebpf.AttachSkLookup, bench.DriverSocket, bench.Exchange{}, 1}
	byTestRun := c.jobOf(1)
	byTestRun.SetDriver(bench.DriverTestRun)
	bySocket := byTestRun.Kind().Instead(byTestRun)
	if got := bySocket.Driver(); got != bench.DriverSocket || len(bySocket.Warnings) == 0 {
		t.Errorf("got driver %s, warnings %q", got, bySocket.Warnings)
	}
	if byTestRun.Driver() != bench.DriverTestRun || len(byTestRun.Warnings) > 0 {
		t.Error("the plan's own job has changed")
	}
	for _, s := range slicesOf(t, bySocket, 1) {
		if s.RunCnt == 0 {
			t.Error("not one run")
		}
	}
}

func TestSkLookupWithSocketsIsDrivenBySockets(t *testing.T) {
	c := hookCase{"sk_lookup", ebpf.SkLookup, ebpf.AttachSkLookup, bench.DriverSocket, bench.Exchange{}, 1}
	for table, want := range map[*ebpf.MapSpec]string{
		{Name: "servers", Type: ebpf.SockMap, KeySize: 4, ValueSize: 8, MaxEntries: 1}: bench.DriverSocket,
		{Name: "ports", Type: ebpf.Hash, KeySize: 4, ValueSize: 8, MaxEntries: 1}:      bench.DriverTestRun,
	} {
		j := c.job(asm.Instructions{asm.Mov.Imm(asm.R0, 1), asm.Return()}, table)
		j.SetDriver(bench.DriverVerify)
		j.Verify = nil
		if j.ChooseDriver(); j.Driver() != want {
			t.Errorf("with a map of type %s: got driver %s, want %s", table.Type, j.Driver(), want)
		}
	}
}
