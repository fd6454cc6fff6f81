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
	var most int
	estimate := time.Duration(m.options.Loads-1) * loading
	for _, t := range g.floors {
		if ctx.Err() == nil {
			t.pilot(ctx)
		}
	}
	floors := map[*track]int{}
	for _, t := range g.tracks {
		if ctx.Err() != nil {
			return
		}
		if t.job.Verify != nil {
			continue
		}
		wall := t.pilot(ctx)
		t.refuseOwnRuns(ctx)
		t.watchOthers(ctx)
		if !t.live() {
			continue
		}
		budget := time.Duration(t.job.Budget)
		if m.options.Budget > 0 {
			budget = m.options.Budget
		}
		// A load without a round would be wasted.
		t.rounds = max(int(budget/max(wall, time.Microsecond)), minRounds, m.options.Loads)
		if m.options.Rounds > 0 {
			t.rounds = m.options.Rounds
		}
		most = max(most, t.rounds)
		floors[t.floor] = max(floors[t.floor], t.rounds)
		estimate += time.Duration(t.rounds) * wall
	}
	if ctx.Err() != nil { // slices that were cut off give no times
		return
	}
	for floor, rounds := range floors {
		estimate += time.Duration(rounds) * floor.wall
	}
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
// rounds, so that a temporary disturbance of the machine affects all tracks.
func (m *measurement) rounds(ctx context.Context, g *group, load int) {
	n := m.options.Loads
	share := make([]int, len(g.tracks))
	most := 0
	for i, t := range g.tracks {
		// The shares of all loads add up to the track's rounds.
		share[i] = (load+1)*t.rounds/n - load*t.rounds/n
		most = max(most, share[i])
	}
	rng := rand.New(rand.NewPCG(m.options.Seed, uint64(load)))
	var turn []*track
	for r := range most {
		if ctx.Err() != nil {
			return
		}
		turn = turn[:0]
		for i, t := range g.tracks {
			if t.live() && (r+1)*share[i]/most > r*share[i]/most {
				turn = append(turn, t)
			}
		}
		measureRound(ctx, load, withFloors(turn), rng)
		m.options.Progress.Round()
	}
}

// withFloors adds the floor of each track that takes part in a round, once
// each.
func withFloors(turn []*track) []*track {
	for _, t := range turn {
		if f := t.floor; f.live() && !contains(turn, f) {
			turn = append(turn, f)
		}
	}
	return turn
}

func contains(turn []*track, t *track) bool {
	for _, other := range turn {
		if other == t {
			return true
		}
	}
	return false
}

// measureRound gives each track one slice, in random order, and then records
// the round: a value is the difference of a track and its floor within it. It
// records nothing if ctx cuts the round off.
func measureRound(ctx context.Context, load int, turn []*track, rng *rand.Rand) {
	rng.Shuffle(len(turn), func(i, j int) { turn[i], turn[j] = turn[j], turn[i] })
	for _, t := range turn {
		t.slice(ctx)
	}
	if ctx.Err() != nil {
		return
	}
	for _, t := range turn {
		t.record(load)
	}
}
