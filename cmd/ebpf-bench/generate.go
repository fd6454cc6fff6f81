package main

// The objects of the tests are compiled as those of the bundled programs are.
//go:generate sh testdata/objects/compile.sh faults refused one_more
