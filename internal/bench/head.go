package bench

// HeadRun is the head of a comparison as a run.
func (c *Comparison) HeadRun() *Run {
	run := &Run{
		Version: RunVersion, Tool: c.Tool, Testbed: c.Testbed, Started: c.Started,
		Elapsed: c.Elapsed, Seed: c.Seed, Partial: c.Partial,
	}
	for _, p := range c.Pairs {
		if p.Head != nil {
			run.Results = append(run.Results, *p.Head)
		}
	}
	return run
}
