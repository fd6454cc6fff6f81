//go:build linux

package sections

import "slices"

// Object returns the object with all programs.
func Object() []byte { return slices.Clone(_BpfBytes) }
