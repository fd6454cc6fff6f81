package main

import (
	"errors"
	"slices"
	"testing"
)

func TestChooseKernels(t *testing.T) {
	flag, suite := []string{"6.12", "6.1", "6.12"}, []string{"5.10"}
	for _, test := range []struct {
		mode           vmMode
		named, inSuite []string
		want           []string
	}{
		{"", nil, nil, nil},
		{"", nil, suite, suite},
		{"", flag, suite, []string{"6.12", "6.1"}},
		{"off", nil, suite, nil},
		{"exact", nil, suite, suite},
		{"exact", nil, nil, []string{"host"}},
		{"kvm", nil, nil, []string{"host"}},
	} {
		f := machineFlags{mode: test.mode, kernels: test.named}
		if got := f.choose(test.inSuite); !slices.Equal(got, test.want) {
			t.Errorf("--vm %s --kernel %v, suite %v: %v, want %v", test.mode, test.named, test.inSuite, got, test.want)
		}
	}
}

// A variable that nobody has set is no kernel, and above all not this host.
func TestKernelsOfTheCommandLine(t *testing.T) {
	for _, c := range []struct {
		args []string
		want []string // nil where they are refused
	}{
		{[]string{"6.12"}, []string{"6.12"}},
		{[]string{"6.12, 6.1", "host"}, []string{"6.12", "6.1", "host"}},
		{[]string{""}, nil},
		{[]string{" "}, nil},
		{[]string{"6.12,"}, nil},
		{[]string{",6.12"}, nil},
		{[]string{"6.12", ""}, nil},
	} {
		var list kernelList
		var err error
		for _, arg := range c.args {
			err = errors.Join(err, list.Set(arg))
		}
		if (err != nil) != (c.want == nil) || err == nil && !slices.Equal(list, c.want) {
			t.Errorf("--kernel %q: %v, error %v", c.args, list, err)
		}
	}
}

func TestNoMachineOnAKernel(t *testing.T) {
	for _, c := range []struct {
		flags machineFlags
		ok    bool
	}{
		{machineFlags{mode: "off"}, true},
		{machineFlags{kernels: []string{"6.12"}}, true},
		{machineFlags{mode: "kvm", kernels: []string{"6.12"}}, true},
		{machineFlags{mode: "off", kernels: []string{"6.12"}}, false},
	} {
		if err := c.flags.check(); (err == nil) != c.ok {
			t.Errorf("--vm %s --kernel %s: %v", c.flags.mode, c.flags.kernels.String(), err)
		}
	}
}
