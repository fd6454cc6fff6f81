package runner

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"
)

// minRounds is the least number of rounds of a benchmark, however slow its
// slices: fewer values have no meaningful quartiles.
const minRounds = 16

// planRounds runs a pilot to set how many rounds each track of a group takes part
// in. Its estimate adds up those rounds and the remaining loads, which take as long
// as the first each. The groups that follow are taken to be like this one.
func (m *measurement) planRounds(ctx context.Context, g *group, loading time.Duration) {
	var most, turns int
	var attaching time.Duration // in a load
	for _, f := range g.floors {
		if ctx.Err() == nil {
			attaching += f.attached(ctx, func() { f.pilot(ctx) })
		}
	}
	floors := map[*driven]int{}
	var estimate time.Duration
	for _, t := range g.tracks {
		if ctx.Err() != nil {
			return
		}
		if t.job.Verify != nil {
			continue
		}
		attaching += t.attached(ctx, func() {
			t.pilot(ctx)
			t.refuseOwnRuns(ctx)
			t.watchOthers(ctx)
			t.nameOthers(ctx)
		})
		if !t.live() {
			continue
		}
		budget := time.Duration(t.job.Budget)
		if m.options.Budget > 0 {
			budget = m.options.Budget
		}
		// A load without a round would be wasted.
		t.rounds = max(int(budget/max(t.wall, time.Microsecond)), minRounds, m.options.Loads)
		if m.options.Rounds > 0 {
			t.rounds = m.options.Rounds
		}
		if t.subject.SharesHook() {
			turns++
		} else {
			most = max(most, t.rounds)
		}
		floors[t.floor] = max(floors[t.floor], t.rounds)
		estimate += time.Duration(t.rounds) * t.wall
	}
	if ctx.Err() != nil { // slices that were cut off give no times
		return
	}
	for floor, rounds := range floors {
		estimate += time.Duration(rounds) * floor.wall
	}
	estimate += time.Duration(m.options.Loads-1)*loading + time.Duration(m.options.Loads)*attaching
	most += turns * m.options.Loads
	m.planned += most
	follow := m.groups[slices.Index(m.groups, g)+1:]
	like := 0.0
	for _, f := range follow {
		like += float64(len(f.tracks)) / float64(len(g.tracks))
	}
	m.options.Progress.Start(m.planned+int(float64(most)*like), time.Duration(float64(estimate)*(1+like)))
}

// rounds measures one load's share of a group's rounds. A track with slow slices has
// fewer rounds than one with fast slices. They are spread evenly over all
// rounds, so that a temporary disturbance of the machine affects all tracks. Those
// that share hooks have one turn each, since to detach a program takes long.
func (m *measurement) rounds(ctx context.Context, g *group, load int) {
	n := m.options.Loads
	var shared []part
	share := make([]int, len(g.tracks))
	most := 0
	for i, t := range g.tracks {
		// The shares of all loads add up to the track's rounds.
		share[i] = (load+1)*t.rounds/n - load*t.rounds/n
		switch {
		case !t.live():
		case t.subject.SharesHook():
			shared = append(shared, part{t, share[i]})
		default:
			most = max(most, share[i])
		}
	}
	rng := rand.New(rand.NewPCG(m.options.Seed, uint64(load)))
	var round []part
	for r := range most {
		if ctx.Err() != nil {
			return
		}
		round = round[:0]
		for i, t := range g.tracks {
			if t.live() && !t.subject.SharesHook() && (r+1)*share[i]/most > r*share[i]/most {
				round = append(round, part{t, 1})
			}
		}
		measureRound(ctx, load, round, rng)
		m.options.Progress.Round()
	}
	measureRound(ctx, load, shared, rng)
	for range shared {
		m.options.Progress.Round()
	}
}

// part is how many slices of a track a round has. Its floor has as many.
type part struct {
	track  *track
	slices int
}

// turn is how many slices a program runs for in a round, without a pause.
type turn struct {
	*driven
	slices int
}

// take gives the program its turn and returns how long its slices took.
func (u turn) take(ctx context.Context) (took time.Duration) {
	u.taken = u.taken[:0]
	u.attached(ctx, func() {
		u.settle(ctx)
		if u.subject.SharesHook() && u.last.Wall < warmUpTime {
			// The first events find cold caches, which matters in a short slice.
			u.slice(ctx)
		}
		began := time.Now()
		for range u.slices {
			u.slice(ctx)
			u.taken = append(u.taken, u.last)
		}
		took = time.Since(began)
	})
	return took
}

// turns returns the turns of a round. A floor of several tracks has one.
func turns(round []part) (all []turn) {
	floors := map[*driven]int{}
	for _, p := range round {
		all = append(all, turn{&p.track.driven, p.slices})
	}
	for _, p := range round {
		f := p.track.floor
		if !f.live() {
			continue
		}
		i, ok := floors[f]
		if !ok {
			i, floors[f] = len(all), len(all)
			all = append(all, turn{f, 0})
		}
		all[i].slices = max(all[i].slices, p.slices)
	}
	return all
}

// measureRound gives each track and each floor its turn, in random order, and then records
// the round: a value is the difference of a track and its floor within it. It
// records nothing if ctx cuts the round off. It returns how long the slices took.
func measureRound(ctx context.Context, load int, round []part, rng *rand.Rand) (took time.Duration) {
	all := turns(round)
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, u := range all {
		took += u.take(ctx)
	}
	if ctx.Err() != nil {
		return took
	}
	for _, p := range round {
		p.track.record(load)
	}
	return took
}
