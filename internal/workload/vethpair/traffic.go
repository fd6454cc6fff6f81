package vethpair

import (
	"context"
	"fmt"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// settlePatience is how long Settle waits without any packet coming through
// before it considers the rest lost.
const settlePatience = 50 * time.Millisecond

// Settle waits until all packets of one Send are through and accounts for them.
// ran reads how often the program has run since before that Send.
//
// Packets that are still missing when nothing moves any more are Unaccounted,
// which is not an error. Call Settle after each Send, even after a failed one,
// because it counts drops from one call to the next.
func (v *Pair) Settle(ctx context.Context, sent uint64, ran func() (uint64, error)) (bench.Traffic, error) {
	var last bench.Traffic
	for moved := time.Now(); ; time.Sleep(settlePatience / 100) {
		// Taken before the counters are read: a later delay of this process
		// would say nothing about the packets.
		now := time.Now()
		traffic, err := v.account(sent, ran)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return traffic, fmt.Errorf("account for packets: %w", err)
		}
		if traffic != last {
			last, moved = traffic, now
		}
		if traffic.Unaccounted <= 0 || now.Sub(moved) > settlePatience {
			v.dropped += traffic.Dropped
			return traffic, nil
		}
	}
}

// account returns the fate of the packets of one Send so far.
func (v *Pair) account(sent uint64, ran func() (uint64, error)) (bench.Traffic, error) {
	run, err := ran()
	if err != nil {
		return bench.Traffic{}, err
	}
	dropped, err := v.totalDropped()
	if err != nil {
		return bench.Traffic{}, err
	}
	dropped -= v.dropped
	return bench.Traffic{
		Sent:        sent,
		Run:         run,
		Dropped:     dropped,
		Unaccounted: int64(sent) - int64(run) - int64(dropped),
	}, nil
}

// totalDropped returns the number of packets that were dropped before the
// program could see them, since the pair was made.
//
// The near end's tx_dropped includes all of them: frames and packets for which
// the far end's ring or backlog had no room, and packets sent while the far end
// was down. The far end's own rx_dropped is unsuitable: it also counts packets
// that a program has seen and passed, redirected or sent back in vain.
//
// A program at the near end's egress sees a packet before anything drops it.
func (v *Pair) totalDropped() (uint64, error) {
	if v.hook == bench.Egress {
		return 0, nil
	}
	iface, err := v.near.Netlink.LinkByIndex(v.near.Index)
	if err != nil {
		return 0, err
	}
	return iface.Attrs().Statistics.TxDropped, nil
}
