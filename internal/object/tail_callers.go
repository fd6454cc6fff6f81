package object

import (
	"cmp"
	"slices"

	"github.com/cilium/ebpf"
)

// TailCallers returns, by program, the entry programs that reach it by a tail
// call, because they use an array that holds it. Programs that only call each
// other have none. Callers must not change what it returns.
func (o *Object) TailCallers() map[string][]string {
	o.callers.Do(func() { o.callers.all = o.tailCallers() })
	return o.callers.all
}

func (o *Object) tailCallers() map[string][]string {
	targets := map[string]bool{}
	for _, m := range o.spec.Maps {
		if m.Type != ebpf.ProgramArray {
			continue
		}
		for _, kv := range m.Contents {
			if name, ok := kv.Value.(string); ok {
				targets[name] = true
			}
		}
	}
	callers := map[string][]string{}
	for _, entry := range o.Programs() {
		if targets[entry] {
			continue
		}
		for name := range Reach(o.spec, entry) {
			if targets[name] {
				callers[name] = append(callers[name], entry)
			}
		}
	}
	for _, all := range callers {
		slices.SortFunc(all, cmp.Compare[string])
	}
	return callers
}
