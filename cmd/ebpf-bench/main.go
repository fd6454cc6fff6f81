// Command ebpf-bench measures what a run of an eBPF program costs.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/org/ebpf-bench-action/internal/vm/guest"
	"github.com/org/ebpf-bench-action/internal/workload/process"
)

func main() {
	guest.Main()
	process.RunHelper()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	// A second signal ends the process at once: everything that it attached
	// ends with it.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
