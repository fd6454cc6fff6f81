package main

import (
	"io/fs"
	"path/filepath"

	"gopkg.in/yaml.v3"

	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/thresholds"
)

// policy is the thresholds of the input, else those that the suite names.
func (s *actionStep) policy() (*thresholds.Policy, error) {
	file := s.in.thresholds
	for _, name := range s.suiteNames() {
		if file == "" {
			file = namedLimits(name)
		}
	}
	if file == "" {
		return thresholds.Default(), nil
	}
	return thresholds.Load(suite.OS, filepath.ToSlash(file))
}

// namedLimits is the file of thresholds that a suite file names, empty where it
// names none. The objects of the suite need not be here.
func namedLimits(name string) string {
	text, err := fs.ReadFile(suite.OS, filepath.ToSlash(name))
	if err != nil || len(text) > maxStateFile {
		return ""
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil || len(doc.Content) == 0 {
		return ""
	}
	file := valueOf(doc.Content[0], "thresholds")
	if file == nil || file.Kind != yaml.ScalarNode || file.Value == "" {
		return ""
	}
	if filepath.IsAbs(file.Value) {
		return file.Value
	}
	return filepath.Join(filepath.Dir(name), file.Value)
}
