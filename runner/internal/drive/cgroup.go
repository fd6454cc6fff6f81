package drive

import (
	"context"
	"fmt"
	"os"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/workload/guard"
	"github.com/org/ebpf-bench-action/internal/workload/sockets"
	"github.com/org/ebpf-bench-action/internal/workload/worker"
	"github.com/org/ebpf-bench-action/runner/internal/host"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
)

// newCgroup attaches a program to a cgroup whose only process does what the
// program's hook sees. The process's peer is not in the cgroup.
func newCgroup(ctx context.Context, env *Environment, program *ebpf.Program, j *plan.Job) (d Driver, err error) {
	hook, talk, err := plan.CgroupTalk(j)
	if err != nil {
		return nil, err
	}
	x := newExchange(env, program, talk)
	if hook.Task == sockets.TaskMessage && talk.Protocol == bench.ProtocolTCP {
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
	w, err := worker.Start(ctx, hook.Task, sockets.TaskArgs(talk, len(inherited)),
		worker.Place{Netns: network.Near(), Cgroup: group.Folder, Files: inherited})
	if err != nil {
		return nil, err
	}
	x.open, x.do = append(x.open, w), w.Try
	attached, err := link.AttachCgroup(link.CgroupOptions{Path: group.Path(), Attach: hook.Attach, Program: program})
	if err != nil {
		return nil, host.TooOld(j.ProgramSpec(), fmt.Errorf("attach to a cgroup: %w", err))
	}
	x.open = append(x.open, attached)
	return x, nil
}

// cgroupPeer returns the peer that the cgroup's process inherits.
func cgroupPeer(n *sockets.Network, hook plan.CgroupHook, talk bench.Exchange) ([]*os.File, error) {
	if hook.Task == sockets.TaskConnectOwn {
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
