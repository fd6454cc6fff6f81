// Package perfprofiler is a sampling profiler: a program that a perf event
// runs, and the reader of its records.
//
// The program, profile, writes the user stack that its event interrupted to a
// ring buffer. It counts the samples that it could not record, so that those
// recorded and those dropped add up to those taken.
//
// The package knows addresses, not symbols, and nothing about benchmarks: they
// measure the object file, perf_profiler_bpfel.o.
package perfprofiler

//go:generate go tool bpf2go -tags linux -cc clang-14 -strip llvm-strip-14 -target bpfel -output-stem perf_profiler bpf perf_profiler.c -- -Wall -Werror
//go:generate go tool bpf2go -tags linux -cc clang-14 -strip llvm-strip-14 -target bpfel -output-stem perf_profiler_events events events.c -- -Wall -Werror
//go:generate go tool bpf2go -tags linux -cc clang-14 -strip llvm-strip-14 -target bpfel -output-stem perf_profiler_copies copies events.c -- -Wall -Werror -DCOPY=24576
