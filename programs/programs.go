// Package programs contains the eBPF programs that ebpf-bench benchmarks
// without a suite: a packet classifier with a planted regression, a sampling
// profiler, and the empty programs for measuring the floor.
package programs

import "embed"

// SuiteFile is the name of the bundled suite in FS.
const SuiteFile = "ebpf-bench.yml"

// FS holds the bundled suite and its objects.
//
//go:embed ebpf-bench.yml fun_xdp/*.o perf_profiler/*.o work/*.o
var FS embed.FS
