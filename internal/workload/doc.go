// Package workload knows what drives a hook: packets for test_run, live
// frames over a veth pair, and processes for perf events to sample. It knows
// nothing of the programs that it drives, of samples, or of statistics.
//
// Whatever it starts ends with the tool, also when the tool is killed. Some of
// that is done by helpers, which are the tool's own binary started again: a
// main function calls [RunHelper] first.
package workload
