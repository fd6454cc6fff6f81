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
	for _, t := range g.floors {
		if ctx.Err() == nil {
			attaching += t.attached(ctx, func() { t.pilot(ctx) })
		}
	}
	floors := map[*track]int{}
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
	var shared []turn
	share := make([]int, len(g.tracks))
	most := 0
	for i, t := range g.tracks {
		// The shares of all loads add up to the track's rounds.
		share[i] = (load+1)*t.rounds/n - load*t.rounds/n
		switch {
		case !t.live():
		case t.subject.SharesHook():
			shared = append(shared, turn{t, share[i]})
		default:
			most = max(most, share[i])
		}
	}
	rng := rand.New(rand.NewPCG(m.options.Seed, uint64(load)))
	var round []turn
	for r := range most {
		if ctx.Err() != nil {
			return
		}
		round = round[:0]
		for i, t := range g.tracks {
			if t.live() && !t.subject.SharesHook() && (r+1)*share[i]/most > r*share[i]/most {
				round = append(round, turn{t, 1})
			}
		}
		measureRound(ctx, load, withFloors(round), rng)
		m.options.Progress.Round()
	}
	measureRound(ctx, load, withFloors(shared), rng)
	for range shared {
		m.options.Progress.Round()
	}
}

// turn is the part of a track in a round.
type turn struct {
	track  *track
	slices int
}

// take gives the track its turn and returns how long its slices took.
func (u turn) take(ctx context.Context) (took time.Duration) {
	t := u.track
	t.taken = t.taken[:0]
	t.attached(ctx, func() {
		if t.subject.SharesHook() && t.last.Wall < warmUpTime {
			// The first events find cold caches, which matters in a short slice.
			t.slice(ctx)
		}
		began := time.Now()
		for range u.slices {
			t.slice(ctx)
			t.taken = append(t.taken, t.last)
		}
		took = time.Since(began)
	})
	return took
}

// withFloors adds the floor of each track that takes part in a round, once
// each, with as many slices as the track.
func withFloors(round []turn) []turn {
	floors := map[*track]int{}
	for _, u := range round {
		f := u.track.floor
		if !f.live() {
			continue
		}
		i, ok := floors[f]
		if !ok {
			i, floors[f] = len(round), len(round)
			round = append(round, turn{f, 0})
		}
		round[i].slices = max(round[i].slices, u.slices)
	}
	return round
}

// measureRound gives each track its turn, in random order, and then records
// the round: a value is the difference of a track and its floor within it. It
// records nothing if ctx cuts the round off. It returns how long the slices took.
func measureRound(ctx context.Context, load int, round []turn, rng *rand.Rand) (took time.Duration) {
	rng.Shuffle(len(round), func(i, j int) { round[i], round[j] = round[j], round[i] })
	for _, u := range round {
		took += u.take(ctx)
	}
	if ctx.Err() != nil {
		return took
	}
	for _, u := range round {
		u.track.record(load)
	}
	return took
}
