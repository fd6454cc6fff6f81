package exchange

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/workload/sockets"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
)

// place is where programs of a hook see what a process or sockets do, one program at a
// time.
type place struct {
	// do performs the action that the program sees this many times, and returns
	// how often it took effect.
	do func(ctx context.Context, times int) (done int, err error)
	// attach attaches a program where there is none.
	attach func(p *ebpf.Program) (attachment, error)
	// attached is nil while there is no visitor.
	attached attachment
	visitor  *visitor
	// open is closed in the end, in reverse order.
	open []io.Closer
}

// attachment is a program in its place, which another of the same hook can take.
type attachment interface {
	Update(p *ebpf.Program) error
	io.Closer
}

// admit puts a visitor's program in the place of the one that is there.
func (p *place) admit(v *visitor) (err error) {
	switch {
	case p.visitor == v:
		return nil
	case p.attached != nil && !v.anew && !p.visitor.anew:
		err = p.attached.Update(v.program)
	default:
		if err = p.dismiss(p.visitor); err == nil {
			p.attached, err = p.attach(v.program)
		}
	}
	if err == nil {
		p.visitor = v
	}
	return err
}

// dismiss detaches a visitor's program, if it is the one that is there.
func (p *place) dismiss(v *visitor) error {
	if p.visitor != v || p.attached == nil {
		return nil
	}
	err := p.attached.Close()
	p.attached, p.visitor = nil, nil
	return err
}

func (p *place) Close() error {
	err := p.dismiss(p.visitor)
	for _, c := range slices.Backward(p.open) {
		err = errors.Join(err, c.Close())
	}
	return err
}

// networks are those that no program uses. Another program of the same hook finds its
// network as the last one found it: no socket is left there.
type networks []*sockets.Network

// networksOf returns the networks of an Environment.
func networksOf(e *driver.Environment) *networks {
	all, _ := driver.Share(e, "networks", func() (*networks, error) { return new(networks), nil })
	return all
}

func (all *networks) take() (*sockets.Network, error) {
	if len(*all) == 0 {
		return sockets.NewNetwork()
	}
	last := len(*all) - 1
	n := (*all)[last]
	*all = (*all)[:last]
	return n, nil
}

func (all *networks) giveBack(n *sockets.Network) { *all = append(*all, n) }

func (all *networks) Close() (err error) {
	for _, n := range *all {
		err = errors.Join(err, n.Close())
	}
	*all = nil
	return err
}

// visitor is a program that runs in a place which others may use between its slices.
type visitor struct {
	env     *driver.Environment
	program *ebpf.Program
	// key names the place, and prepare makes it.
	key     string
	prepare func(context.Context) (*place, error)
	// anew says that the program cannot take the place of another, nor another its
	// place, without being detached.
	anew bool
}

// enter returns the place, with the program in it.
func (v *visitor) enter(ctx context.Context) (*place, error) {
	p, err := driver.Share(v.env, v.key, func() (*place, error) { return v.prepare(ctx) })
	if err != nil {
		return nil, err
	}
	return p, p.admit(v)
}

// do lets the program see the action this many times.
func (v *visitor) do(ctx context.Context, times int) (done int, err error) {
	p, err := v.enter(ctx)
	if err != nil {
		return 0, fmt.Errorf("attach again: %w", err)
	}
	if done, err = p.do(ctx, times); err != nil {
		// Whatever failed may fail for the next program, too.
		_ = v.env.EndShared(p)
	}
	return done, err
}

func (v *visitor) Close() error {
	if p := driver.Shared[*place](v.env, v.key); p != nil {
		return p.dismiss(v)
	}
	return nil
}
