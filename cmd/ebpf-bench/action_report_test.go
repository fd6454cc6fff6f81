package main

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// What fail-on makes of each kind of error.
func TestGate(t *testing.T) {
	regression := &exitError{exitRegression, errors.New("slower")}
	failure := noMeasure(errors.New("a benchmark failed"))
	for _, c := range []struct {
		failOn string
		err    error
		want   int
	}{
		{"regression", nil, exitPass},
		{"regression", regression, exitRegression},
		{"regression", errors.Join(regression, failure), exitRegression},
		{"never", regression, exitPass},
		{"never", alreadySaid(exitRegression), exitPass},
		{"never", failure, exitNoMeasure},
		{"never", errors.Join(regression, failure), exitNoMeasure},
		{"never", usage(errors.New("a threshold is for nothing")), exitUsage},
	} {
		s := &actionStep{t: newTerminal(io.Discard, io.Discard), in: &actionInputs{failOn: c.failOn}}
		if got := exitCode(s.gate(&actionFinding{err: c.err})); got != c.want {
			t.Errorf("fail-on %s, %v: exit code %d, want %d", c.failOn, c.err, got, c.want)
		}
	}
}

func TestBranchFolder(t *testing.T) {
	for _, c := range []struct{ name, shard, want string }{
		{"", "", ""},
		{"XDP / fast path", "", "xdp---fast-path"},
		{"tc", "2/8", "tc/shard-2-of-8"},
	} {
		in := actionInputs{name: c.name, shard: c.shard}
		if got := in.branchFolder(); got != c.want {
			t.Errorf("%q %q: %q, want %q", c.name, c.shard, got, c.want)
		}
	}
}

func TestInputsRefused(t *testing.T) {
	for _, env := range []map[string]string{
		{"MODE": "host", "KERNELS": "6.12"},
		{"RESULTS": "*.json", "BUILD": "make"},
		{"RESULTS": "*.json", "SHARD": "1/2"},
		{"SHARD": "../../x"},
		{"NAME": "--"},
		{"COMMENT": "sometimes"},
	} {
		_, err := readActionInputs(func(name string) string { return env[strings.TrimPrefix(name, inputPrefix)] })
		if err == nil {
			t.Errorf("%v is taken", env)
		}
	}
}
