package exchange

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
	"github.com/org/ebpf-bench-action/runner/internal/driver"
	"github.com/org/ebpf-bench-action/runner/internal/host"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
)

// openCgroup attaches a program to a cgroup whose only process does what the
// program's hook sees.
func openCgroup(ctx context.Context, env *driver.Environment, program *ebpf.Program, j *plan.Job) (driver.Driver, error) {
	hook, talk, err := cgroupTalk(j)
	if err != nil {
		return nil, err
	}
	x := newExchange(env, program, talk)
	if hook.task == sockets.TaskMessage && talk.Protocol == bench.ProtocolTCP {
		x.hint = resent
	}
	v := &visitor{env: env, program: program, key: fmt.Sprintf("%+v %+v", hook, talk)}
	// The kernel gives a program its storage when it attaches it, and not when it puts
	// it in the place of another.
	v.anew = j.HasMap(ebpf.CGroupStorage, ebpf.PerCPUCGroupStorage)
	v.prepare = func(ctx context.Context) (*place, error) { return newCgroupPlace(ctx, hook, talk) }
	if _, err := v.enter(ctx); err != nil {
		return nil, host.TooOld(j.ProgramSpec(), err)
	}
	x.open, x.do = append(x.open, v), v.do
	return x, nil
}

// newCgroupPlace makes a cgroup with a process that does what the hook sees. The
// process's peer is not in the cgroup.
func newCgroupPlace(ctx context.Context, hook cgroupHook, talk bench.Exchange) (_ *place, err error) {
	p := &place{}
	defer func() {
		if err != nil {
			_ = p.Close()
		}
	}()
	network, err := sockets.NewNetwork()
	if err != nil {
		return nil, err
	}
	p.open = append(p.open, network)
	inherited, err := cgroupPeer(network, hook, talk)
	if err != nil {
		return nil, err
	}
	defer driver.CloseAll(inherited)
	group, err := guard.NewCgroup()
	if err != nil {
		return nil, err
	}
	p.open = append(p.open, group)
	w, err := worker.Start(ctx, hook.task, sockets.TaskArgs(talk, len(inherited)),
		worker.Place{Netns: network.Near(), Cgroup: group.Folder, Files: inherited})
	if err != nil {
		return nil, err
	}
	p.open, p.do = append(p.open, w), w.Try
	p.attach = func(program *ebpf.Program) (attachment, error) {
		attached, err := link.AttachCgroup(link.CgroupOptions{Path: group.Path(), Attach: hook.attach, Program: program})
		if err != nil {
			return nil, fmt.Errorf("attach to a cgroup: %w", err)
		}
		return attached, nil
	}
	return p, nil
}

// cgroupPeer returns the peer that the cgroup's process inherits.
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
