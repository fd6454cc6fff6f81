//go:build linux

package sections

import "slices"

// Object is the object with all programs.
func Object() []byte { return slices.Clone(_BpfBytes) }
