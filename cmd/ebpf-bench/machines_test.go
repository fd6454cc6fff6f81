package main

import (
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
		{"off", flag, suite, nil},
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
