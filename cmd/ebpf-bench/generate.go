package main

// The objects of the tests are compiled as those of the bundled programs are.
//go:generate sh testdata/objects/compile.sh faults fixups refused one_more runs sockets maps explained renamed dispatch dispatch_before verdicts libbpf
