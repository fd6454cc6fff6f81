package object

import (
	"os"
	"slices"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
)

func readLibbpfObject(t *testing.T) *Object {
	t.Helper()
	data, err := os.ReadFile(libbpfObject)
	if err != nil {
		t.Fatal(err)
	}
	o, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestStaticAndWeakMapsAreFound(t *testing.T) {
	o := readLibbpfObject(t)
	for program, want := range map[string][]string{
		"static_maps": {"first", "second", "third"},
		"probe":       {"__bpf_usdt_specs", ".bss"},
	} {
		spec, changes := o.Program(program)
		for _, name := range want {
			if spec.Maps[name] == nil {
				t.Errorf("%s has no map %s", program, name)
			}
		}
		if len(changes) > 0 {
			t.Errorf("%s: changes %q", program, changes)
		}
	}
}

func TestHiddenFunctionsAreStatic(t *testing.T) {
	spec, _ := readLibbpfObject(t).Program("hidden")
	links := map[string]btf.FuncLinkage{}
	for i := range spec.Programs["hidden"].Instructions {
		if fn := btf.FuncMetadata(&spec.Programs["hidden"].Instructions[i]); fn != nil {
			links[fn.Name] = fn.Linkage
		}
	}
	if links["swap"] != btf.StaticFunc || links["hidden"] != btf.GlobalFunc {
		t.Errorf("functions %v", links)
	}
}

// A program finds the kernel's settings in the map.
func TestQuestionsToTheKernel(t *testing.T) {
	o := readLibbpfObject(t)
	spec, _ := o.Program("asks")
	kconfig := spec.Maps[Kconfig]
	if kconfig == nil || kconfig.Type != ebpf.Array || kconfig.Contents != nil {
		t.Fatalf("map %+v", kconfig)
	}
	names, weak := map[uint32]string{}, []string{}
	for _, at := range kconfig.Value.(*btf.Datasec).Vars {
		v := at.Type.(*btf.Var)
		names[at.Offset] = v.Name
		if slices.Contains(v.Tags, Weak) {
			weak = append(weak, v.Name)
		}
	}
	slices.Sort(weak)
	if want := []string{"CONFIG_BPF_SYSCALL", "CONFIG_NO_SUCH_THING", "LINUX_HAS_NOTHING"}; !slices.Equal(weak, want) {
		t.Errorf("weak are %q, want %q", weak, want)
	}
	var asked []string
	for _, ins := range spec.Programs["asks"].Instructions {
		if ins.IsLoadFromMap() && ins.Reference() == Kconfig {
			asked = append(asked, names[uint32(uint64(ins.Constant)>>32)])
		}
	}
	slices.Sort(asked)
	if want := []string{
		"CONFIG_BPF_SYSCALL", "CONFIG_CC_VERSION_TEXT", "CONFIG_HZ", "CONFIG_NET", "CONFIG_NO_SUCH_THING",
		"LINUX_HAS_NOTHING", "LINUX_HAS_SYSCALL_WRAPPER", "LINUX_KERNEL_VERSION",
	}; !slices.Equal(slices.Compact(asked), want) {
		t.Errorf("asked are %q, want %q", asked, want)
	}
	if spec, _ := o.Program("hidden"); spec.Maps[Kconfig] != nil {
		t.Error("a program that asks nothing has the map")
	}
}
