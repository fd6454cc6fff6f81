package exchange

import (
	"context"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/workload/sockets"
	"github.com/org/ebpf-bench-action/internal/workload/worker"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
	"github.com/org/ebpf-bench-action/runner/internal/host"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
)

// socketOpeners attach programs, by type, to the sockets that exchange
// messages.
var socketOpeners = map[ebpf.ProgramType]func(context.Context, *exchange, *sockets.Network, bench.Exchange, *plan.Job) error{
	ebpf.SkMsg:        openSent,
	ebpf.SkSKB:        openReceived,
	ebpf.SkReuseport:  openReuseport,
	ebpf.SkLookup:     openLookup,
	ebpf.SocketFilter: openFilter,
}

// openSocket attaches a program to sockets that exchange messages between two
// network namespaces.
func openSocket(ctx context.Context, env *driver.Environment, program *ebpf.Program, j *plan.Job) (d driver.Driver, err error) {
	_, talk, err := socketTalk(j)
	if err != nil {
		return nil, err
	}
	x := newExchange(env, program, talk)
	defer x.closeOnError(&err)
	network, err := networksOf(env).take()
	if err != nil {
		return nil, err
	}
	x.open = append(x.open, closer(func() error { networksOf(env).giveBack(network); return nil }))
	if err = socketOpeners[j.ProgramSpec().Type](ctx, x, network, talk, j); err != nil {
		return nil, host.TooOld(j.ProgramSpec(), err)
	}
	return x, nil
}

// talk makes sockets exchange messages, on this thread.
func (x *exchange) talk(m *sockets.Messages) { x.open, x.do = append(x.open, m), m.Do }

// talkTo makes a server's sockets exchange messages: over UDP on this thread,
// over TCP by a worker that makes a connection for each.
func (x *exchange) talkTo(ctx context.Context, n *sockets.Network, server *sockets.Server, talk bench.Exchange) error {
	if talk.Protocol == bench.ProtocolUDP {
		messages, err := server.Messages()
		if err != nil {
			return err
		}
		x.talk(messages)
		return nil
	}
	inherited, err := server.Files()
	defer driver.CloseAll(inherited)
	if err != nil {
		return err
	}
	w, err := worker.Start(ctx, sockets.TaskConnect, sockets.TaskArgs(talk, len(inherited)),
		worker.Place{Netns: n.Near(), Files: inherited})
	if err != nil {
		return err
	}
	x.open, x.do = append(x.open, w), w.Try
	return nil
}
