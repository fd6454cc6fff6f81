// Package all registers every way to run programs.
package all

import (
	_ "github.com/org/ebpf-bench-action/runner/internal/driver/command"
	_ "github.com/org/ebpf-bench-action/runner/internal/driver/exchange"
	_ "github.com/org/ebpf-bench-action/runner/internal/driver/perfevent"
	_ "github.com/org/ebpf-bench-action/runner/internal/driver/testrun"
	_ "github.com/org/ebpf-bench-action/runner/internal/driver/verify"
	_ "github.com/org/ebpf-bench-action/runner/internal/driver/veth"
)
