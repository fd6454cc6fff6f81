package runner

// Compile the objects of the tests, and the program that they trace.
//go:generate sh testdata/compile.sh
