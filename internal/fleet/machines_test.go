package fleet

import (
	"errors"
	"slices"
	"testing"
)

func TestChooseKernels(t *testing.T) {
	flag, suite := []string{"6.12", "6.1", "6.12"}, []string{"5.10"}
	for _, test := range []struct {
		mode           string
		named, inSuite []string
		want           []string
	}{
		{"", nil, nil, nil},
		{"", nil, suite, suite},
		{"", flag, suite, []string{"6.12", "6.1"}},
		{"off", nil, suite, nil},
		{"exact", nil, suite, suite},
		{"exact", nil, nil, []string{"6.12"}},
		{"kvm", nil, nil, []string{"6.12"}},
	} {
		f := Machines{Mode: test.mode, Kernels: test.named}
		if got := f.Choose(test.inSuite); !slices.Equal(got, test.want) {
			t.Errorf("--vm %s --kernel %v, suite %v: %v, want %v", test.mode, test.named, test.inSuite, got, test.want)
		}
	}
}

// An unset variable is not a kernel, and above all not this host.
func TestKernelsOfTheCommandLine(t *testing.T) {
	for _, c := range []struct {
		args []string
		want []string // nil if they are refused
	}{
		{[]string{"6.12"}, []string{"6.12"}},
		{[]string{"6.12, 6.1", "host"}, []string{"6.12", "6.1", "host"}},
		{[]string{""}, nil},
		{[]string{" "}, nil},
		{[]string{"6.12,"}, nil},
		{[]string{",6.12"}, nil},
		{[]string{"6.12", ""}, nil},
	} {
		var list []string
		var err error
		for _, arg := range c.args {
			names, wrong := ParseKernels(arg)
			list, err = append(list, names...), errors.Join(err, wrong)
		}
		if (err != nil) != (c.want == nil) || err == nil && !slices.Equal(list, c.want) {
			t.Errorf("--kernel %q: %v, error %v", c.args, list, err)
		}
	}
}

func TestNoMachineOnAKernel(t *testing.T) {
	for _, c := range []struct {
		machines Machines
		ok       bool
	}{
		{Machines{Mode: "off"}, true},
		{Machines{Kernels: []string{"6.12"}}, true},
		{Machines{Mode: "kvm", Kernels: []string{"6.12"}}, true},
		{Machines{Mode: "off", Kernels: []string{"6.12"}}, false},
	} {
		if err := c.machines.Check(); (err == nil) != c.ok {
			t.Errorf("--vm %s --kernel %s: %v", c.machines.Mode, c.machines.Kernels, err)
		}
	}
}
