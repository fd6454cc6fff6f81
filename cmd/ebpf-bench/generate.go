package main

// The objects of the tests are compiled like those of the bundled programs.
//go:generate sh testdata/objects/compile.sh faults fixups refused one_more runs sockets maps explained renamed dispatch dispatch_before verdicts libbpf path later edited
