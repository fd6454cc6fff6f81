package e2e

import "testing"

// BenchmarkColdCheckout goes from a checkout on a machine that has built nothing yet, but
// has QEMU, Go and the kernel, to the verdict: exact mode, one kernel, base and head
// built.
func BenchmarkColdCheckout(b *testing.B) {
	gh := newGitHub(b)
	s, _, slowBuild := project(b, gh, asItIs, "plain.yml")
	s.commit("slow", "Look it up by a loop", map[string][]byte{built: slowBuild})
	number := s.openPullRequest("slow")
	pull := s.synchronized(number, "slow", here)
	use := with(b, "plain.yml")
	var all, own float64
	for b.Loop() {
		r := act(b, gh, s, pull, append(use, "--env", "GOCACHE="+b.TempDir())...)
		if r.outputs["verdict"] != "regression" {
			b.Fatalf("verdict %q", r.outputs["verdict"])
		}
		all += r.took.Seconds()
		own += r.own().Seconds()
	}
	b.ReportMetric(all/float64(b.N), "s/verdict")
	b.ReportMetric(own/float64(b.N), "s/tool")
}
