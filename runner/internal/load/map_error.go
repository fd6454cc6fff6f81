package load

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cilium/ebpf"

	"github.com/cilium/ebpf/features"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/object"
)

// mapOf returns the map that an error of loading refers to, or nil.
func mapOf(spec *ebpf.CollectionSpec, err error) (string, *ebpf.MapSpec) {
	for name, m := range spec.Maps {
		if strings.Contains(err.Error(), "map "+name+": ") {
			return name, m
		}
	}
	return "", nil
}

// mapReason returns why a map could not be made.
func mapReason(name string, m *ebpf.MapSpec, err error) loadReason {
	_, text, _ := strings.Cut(err.Error(), "map "+name+": ")
	text = strings.TrimPrefix(strings.TrimPrefix(text, "creating map: "), "map create: ")
	why := loadReason{classMap, cannotLoad, fmt.Sprintf("map %s (%s): %s", name, describeMap(m), text), ""}
	switch {
	case errors.Is(err, unix.ENOMEM), errors.Is(err, unix.E2BIG):
		why.class, why.hint = classMemory, "give the map fewer max_entries or smaller values: the kernel does not make one of that size"
	case errors.Is(err, unix.EPERM):
		why.class, why.hint = classPermission, rightsHint()
	case m.Type == ebpf.StructOpsMap:
		why.class, why.hint = classTarget, "a struct_ops map implements an interface of the kernel, which this one has to have"
	case errors.Is(features.HaveMapType(m.Type), ebpf.ErrNotSupported):
		why.class, why.hint = classFeature, fmt.Sprintf("this kernel has no maps of type %s; %s", object.MapTypeName(m.Type), doctorHint)
	default:
		why.hint = "the kernel does not take a map of this type with these sizes and flags"
	}
	return why
}
