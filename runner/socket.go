package runner

import (
	"context"
	"errors"
	"fmt"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/workload/sockets"
	"github.com/org/ebpf-bench-action/internal/workload/worker"
	"github.com/org/ebpf-bench-action/runner/internal/host"
)

var socketKind = kind{
	check: func(j *Job) error {
		hook, _, err := socketTalk(j)
		if err == nil && hook.maps != nil {
			warnOfSockets(j, hook.maps)
		}
		return err
	},
	open: newSocket,
	alike: func(j *Job) string {
		return fmt.Sprintf("socket %+v", *j.Socket)
	},
	neverRan: "no message reached the program: the kernel may lack CONFIG_BPF_STREAM_PARSER, or another program is attached in its way",
	paced:    true,
}

// socketHook is how programs of a type come to see what sockets do.
type socketHook struct {
	name string
	// protocols are those that the hook sees, the default first.
	protocols []bench.Protocol
	// maps are the types of maps that the tool's own sockets are put into.
	maps []ebpf.MapType
	open func(context.Context, *exchange, *sockets.Network, bench.Exchange, *Job) error
}

var (
	socketMaps    = []ebpf.MapType{ebpf.SockMap, ebpf.SockHash}
	reuseportMaps = []ebpf.MapType{ebpf.ReusePortSockArray}
)

// socketHookOf is the hook of a program, false if it has none here.
func socketHookOf(p *ebpf.ProgramSpec) (socketHook, bool) {
	switch p.Type {
	case ebpf.SkMsg:
		return socketHook{"sk_msg", onlyTCP, socketMaps, openSent}, true
	case ebpf.SkSKB:
		if p.AttachType == ebpf.AttachSkSKBVerdict {
			return socketHook{"sk_skb/verdict", tcpOrUDP, socketMaps, openReceived}, true
		}
		return socketHook{"sk_skb", onlyTCP, socketMaps, openReceived}, true
	case ebpf.SkReuseport:
		return socketHook{"sk_reuseport", udpOrTCP, reuseportMaps, openReuseport}, true
	case ebpf.SkLookup:
		return socketHook{"sk_lookup", udpOrTCP, socketMaps, openLookup}, true
	case ebpf.SocketFilter:
		return socketHook{"socket filter", udpOrTCP, nil, openFilter}, true
	}
	return socketHook{}, false
}

// socketTalk is the job's hook, and what is said there.
func socketTalk(j *Job) (socketHook, bench.Exchange, error) {
	hook, ok := socketHookOf(j.program())
	if !ok {
		return hook, bench.Exchange{}, errors.New("socket drives sk_msg, sk_skb, sk_reuseport, sk_lookup and socket_filter programs; cgroup drives sock_ops and those of cgroups")
	}
	talk, err := talkOf(j.Socket, hook.name, false, hook.protocols...)
	return hook, talk, err
}

// newSocket attaches a program to sockets that exchange messages between two
// network namespaces.
func newSocket(ctx context.Context, env *environment, program *ebpf.Program, j *Job) (d driver, err error) {
	hook, talk, err := socketTalk(j)
	if err != nil {
		return nil, err
	}
	x := newExchange(env, program, talk)
	defer x.closeOnError(&err)
	network, err := sockets.NewNetwork()
	if err != nil {
		return nil, err
	}
	x.open = append(x.open, network)
	if err = hook.open(ctx, x, network, talk, j); err != nil {
		return nil, host.TooOld(j.program(), err)
	}
	return x, nil
}

// talk has sockets exchange messages on this thread.
func (x *exchange) talk(m *sockets.Messages) { x.open, x.do = append(x.open, m), m.Do }

// talkTo has a server's sockets exchange messages: with UDP on this thread,
// with TCP by a worker that makes a connection for each.
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
	defer closeAll(inherited)
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
