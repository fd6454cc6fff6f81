package runner

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/workload/guard"
	"github.com/org/ebpf-bench-action/internal/workload/sockets"
	"github.com/org/ebpf-bench-action/internal/workload/worker"
	"github.com/org/ebpf-bench-action/runner/internal/host"
)

var cgroupKind = kind{
	check: func(j *Job) error {
		_, _, err := cgroupTalk(j)
		return err
	},
	open: newCgroup,
	alike: func(j *Job) string {
		return fmt.Sprintf("cgroup %+v", *j.Cgroup)
	},
	neverRan: "what the cgroup's process did never reached the hook: a program of a cgroup above may refuse it, and cgroup v1's net_cls or net_prio keeps Linux before 5.15 from knowing a socket's cgroup",
	paced:    true,
}

// cgroupTalk is what the job's hook sees, and how it is brought about.
func cgroupTalk(j *Job) (cgroupHook, bench.Exchange, error) {
	p := j.program()
	hook, ok := cgroupHooks[cgroupHookKey{p.Type, p.AttachType}]
	if !ok {
		return hook, bench.Exchange{}, errors.New("cgroup drives cgroup_skb, cgroup_sock, cgroup_sock_addr, cgroup_sockopt, cgroup_sysctl, cgroup_device and sock_ops programs")
	}
	talk, err := talkOf(j.Cgroup, hook.name, hook.ipv6, hook.protocols...)
	return hook, talk, err
}

// newCgroup attaches a program to a cgroup whose only process does what the
// program's hook sees. What it talks to is not in the cgroup.
func newCgroup(ctx context.Context, env *environment, program *ebpf.Program, j *Job) (d driver, err error) {
	hook, talk, err := cgroupTalk(j)
	if err != nil {
		return nil, err
	}
	x := newExchange(env, program, talk)
	if hook.task == sockets.TaskMessage && talk.Protocol == bench.ProtocolTCP {
		x.hint = resent
	}
	defer x.closeOnError(&err)
	network, err := sockets.NewNetwork()
	if err != nil {
		return nil, err
	}
	x.open = append(x.open, network)
	inherited, err := cgroupPeer(network, hook, talk)
	if err != nil {
		return nil, err
	}
	defer closeAll(inherited)
	group, err := guard.NewCgroup()
	if err != nil {
		return nil, err
	}
	x.open = append(x.open, group)
	w, err := worker.Start(ctx, hook.task, sockets.TaskArgs(talk, len(inherited)),
		worker.Place{Netns: network.Near(), Cgroup: group.Folder, Files: inherited})
	if err != nil {
		return nil, err
	}
	x.open, x.do = append(x.open, w), w.Try
	attached, err := link.AttachCgroup(link.CgroupOptions{Path: group.Path(), Attach: hook.attach, Program: program})
	if err != nil {
		return nil, host.TooOld(j.program(), fmt.Errorf("attach to a cgroup: %w", err))
	}
	x.open = append(x.open, attached)
	return x, nil
}

// cgroupPeer is what the cgroup's process inherits to talk to.
func cgroupPeer(n *sockets.Network, hook cgroupHook, talk bench.Exchange) ([]*os.File, error) {
	if hook.task == sockets.TaskConnectOwn {
		far, err := n.Far().File()
		return []*os.File{far}, err
	}
	server, err := n.Serve(talk, 1)
	if err != nil {
		return nil, err
	}
	defer server.Close()
	return server.Files()
}
