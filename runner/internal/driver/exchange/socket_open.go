package exchange

import (
	"context"
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/workload/sockets"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
)

// openSent makes a proxy's sockets, which are in the program's map, send
// messages.
func openSent(_ context.Context, x *exchange, n *sockets.Network, talk bench.Exchange, j *plan.Job) error {
	maps, err := x.attachToMap(ebpf.AttachSkMsgVerdict)
	if err != nil {
		return err
	}
	connect := proxyIn(n, talk, maps, (*sockets.Proxy).Sent)
	messages, err := connect()
	if err != nil {
		return err
	}
	// Once a program has dropped a message, the kernel no longer calls it on
	// that connection and drops all further messages.
	messages.Renew = connect
	x.talk(messages)
	return nil
}

// openReceived makes a proxy's sockets, which are in the program's map, receive
// messages.
func openReceived(_ context.Context, x *exchange, n *sockets.Network, talk bench.Exchange, j *plan.Job) error {
	attach := j.ProgramSpec().AttachType
	if attach == ebpf.AttachNone { // the section is just sk_skb
		attach = ebpf.AttachSkSKBStreamVerdict
	}
	maps, err := x.attachToMap(attach)
	if err != nil {
		return err
	}
	if attach == ebpf.AttachSkSKBStreamParser {
		// A parser runs only if a verdict takes what it finds.
		if err := x.attachVerdict(maps[0]); err != nil {
			return err
		}
	}
	messages, err := proxyIn(n, talk, maps, (*sockets.Proxy).Received)()
	if err != nil {
		return err
	}
	x.oneWay = attach == ebpf.AttachSkSKBStreamParser
	messages.OneWay = x.oneWay
	x.talk(messages)
	return nil
}

// attachToMap attaches the program to the first of its socket maps, or to one
// made for it, and returns them all. They are closed with x.
func (x *exchange) attachToMap(attach ebpf.AttachType) ([]*ebpf.Map, error) {
	maps, err := socketMapsOf(x.program, socketMaps)
	if err != nil {
		return nil, err
	}
	if len(maps) == 0 {
		m, err := newSocketMap()
		if err != nil {
			return nil, err
		}
		maps = append(maps, m)
	}
	for _, m := range maps {
		x.open = append(x.open, m)
	}
	return maps, x.attachProgram(maps[0], x.program, attach)
}

func (x *exchange) attachProgram(m *ebpf.Map, p *ebpf.Program, attach ebpf.AttachType) error {
	err := link.RawAttachProgram(link.RawAttachProgramOptions{Target: m.FD(), Program: p, Attach: attach})
	if err != nil {
		return fmt.Errorf("attach to a %s: %w", m.Type(), err)
	}
	x.open = append(x.open, closer(func() error {
		return link.RawDetachProgram(link.RawDetachProgramOptions{Target: m.FD(), Program: p, Attach: attach})
	}))
	return nil
}

// attachVerdict attaches a verdict that drops everything. A verdict that lets
// anything pass makes late releases of Linux 5.10, such as 5.10.223, hang:
// behind a parser, they take the sk_callback_lock of a socket twice.
func (x *exchange) attachVerdict(m *ebpf.Map) error {
	verdict, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Name: "bench_drop", Type: ebpf.SkSKB, AttachType: ebpf.AttachSkSKBStreamVerdict, License: "GPL",
		Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, skDrop), asm.Return()},
	})
	if err != nil {
		return fmt.Errorf("load a verdict for the parser: %w", err)
	}
	x.open = append(x.open, verdict)
	return x.attachProgram(m, verdict, ebpf.AttachSkSKBStreamVerdict)
}

// The verdicts of socket programs, from the kernel's enum sk_action.
const (
	skDrop = 0
	skPass = 1
)

// proxyIn connects a proxy and puts its sockets into the maps.
func proxyIn(n *sockets.Network, talk bench.Exchange, maps []*ebpf.Map, messages func(*sockets.Proxy) *sockets.Messages) func() (*sockets.Messages, error) {
	return func() (*sockets.Messages, error) {
		p, err := n.Proxy(talk)
		if err != nil {
			return nil, err
		}
		for _, to := range maps {
			if err := putSockets(to, p.Sockets[:]); err != nil {
				return nil, errors.Join(err, p.Close())
			}
		}
		return messages(p), nil
	}
}

const (
	// fewSockets is how many sockets share a port if no map determines it,
	// manySockets how many do at most.
	fewSockets, manySockets = 4, 64
)

// openReuseport opens a group of sockets on one port, over which the program
// spreads messages.
func openReuseport(ctx context.Context, x *exchange, n *sockets.Network, talk bench.Exchange, _ *plan.Job) error {
	maps, err := socketMapsOf(x.program, reuseportMaps)
	defer driver.CloseAll(maps)
	if err != nil {
		return err
	}
	group := fewSockets
	if len(maps) > 0 {
		group = min(max(int(maps[0].MaxEntries()), 2), manySockets)
	}
	server, err := n.Serve(talk, group)
	if err != nil {
		return err
	}
	x.open = append(x.open, server)
	if len(maps) > 0 { // a socket can be in only one of them
		if err := putSockets(maps[0], server.Sockets); err != nil {
			return err
		}
	}
	first := server.Sockets[0]
	if err := x.talkTo(ctx, n, server, talk); err != nil {
		return err
	}
	err = unix.SetsockoptInt(first, unix.SOL_SOCKET, unix.SO_ATTACH_REUSEPORT_EBPF, x.program.FD())
	if err != nil {
		return fmt.Errorf("attach to a group of sockets: %w", err)
	}
	return nil
}

// openLookup makes the program look up the socket of each message that has no
// socket of its own.
func openLookup(ctx context.Context, x *exchange, n *sockets.Network, talk bench.Exchange, _ *plan.Job) error {
	maps, err := socketMapsOf(x.program, socketMaps)
	defer driver.CloseAll(maps)
	if err != nil {
		return err
	}
	server, err := n.Serve(talk, 1)
	if err != nil {
		return err
	}
	x.open = append(x.open, server)
	for _, m := range maps {
		if err := putSockets(m, server.Sockets); err != nil {
			return err
		}
	}
	if err := x.talkTo(ctx, n, server, talk); err != nil {
		return err
	}
	far, err := n.Far().File()
	if err != nil {
		return err
	}
	defer far.Close()
	attached, err := link.AttachNetNs(int(far.Fd()), x.program)
	if err != nil {
		return fmt.Errorf("attach to a network namespace: %w", err)
	}
	x.open = append(x.open, attached)
	return nil
}

// openFilter makes the program filter what a socket receives.
func openFilter(_ context.Context, x *exchange, n *sockets.Network, talk bench.Exchange, _ *plan.Job) error {
	server, err := n.Serve(talk, 1)
	if err != nil {
		return err
	}
	x.open = append(x.open, server)
	messages, err := server.Messages()
	if err != nil {
		return err
	}
	x.hint = resent
	messages.Reliable = talk.Protocol == bench.ProtocolTCP
	x.talk(messages)
	if err := unix.SetsockoptInt(messages.Peer(), unix.SOL_SOCKET, unix.SO_ATTACH_BPF, x.program.FD()); err != nil {
		return fmt.Errorf("attach to a socket: %w", err)
	}
	return nil
}
