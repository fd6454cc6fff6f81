package symbol

import (
	"reflect"
	"strings"
	"testing"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

const kallsyms = `0000000000000000 A fixed_percpu_data
ffffffff81000000 T _stext
ffffffff81000000 T _text
ffffffff81000100 t do_one
ffffffff81000100 d data_at_the_same_place
ffffffff81000200 W weak
ffffffff81000300 D data
ffffffffc0001000 t start	[nf_tables]
ffffffffc0002000 t bpf_prog_6deef7357e7b4530_name	[bpf]
malformed
ffffffffc0003000 x
`

func TestKallsymsAreParsed(t *testing.T) {
	k, err := ParseKallsyms(strings.NewReader(kallsyms))
	if err != nil {
		t.Fatal(err)
	}
	for addr, want := range map[uint64][2]string{
		0x10:                             {},
		0xffffffff80ffffff:               {},
		0xffffffff81000000:               {"_stext"},
		0xffffffff81000100:               {"do_one"},
		0xffffffff810001ff:               {"do_one"},
		0xffffffff81000200:               {"weak"},
		0xffffffff81000300:               {},
		0xffffffffc0001234:               {"start", "nf_tables"},
		0xffffffffc0002008:               {"bpf_prog_6deef7357e7b4530_name", "bpf"},
		0xffffffffc0002000 + maxFunction: {},
	} {
		var name string
		if frames := k.Frames(addr); len(frames) > 0 {
			name = frames[0].Func
		}
		if got := [2]string{name, moduleAt(k, addr)}; got != want {
			t.Errorf("%#x: %q, want %q", addr, got, want)
		}
	}
}

// moduleAt returns the name of the module that has an address.
func moduleAt(k *Kernel, addr uint64) string {
	s := k.symbols.at(addr)
	if s == nil {
		return ""
	}
	_, module := k.name(s)
	return module
}

// Those without rights see zeroes, or nothing.
func TestHiddenKallsymsAreAnError(t *testing.T) {
	for _, text := range []string{"", "0000000000000000 T _text\n0000000000000000 t f\t[m]\n"} {
		if _, err := ParseKallsyms(strings.NewReader(text)); err == nil || !strings.Contains(bench.Hint(err), "kptr_restrict") {
			t.Errorf("%q: %v, hint %q", text, err, bench.Hint(err))
		}
	}
}

func FuzzKallsyms(f *testing.F) {
	f.Add(kallsyms, uint64(0xffffffff81000100))
	f.Fuzz(func(t *testing.T, text string, addr uint64) {
		k, err := ParseKallsyms(strings.NewReader(text))
		if err != nil {
			return
		}
		k.Frames(addr)
		moduleAt(k, addr)
	})
}

func TestFramesOfThisKernel(t *testing.T) {
	testenv.Root(t)
	k, err := ReadKernel()
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for i := range k.symbols.symbols {
		s := &k.symbols.symbols[i]
		if name, _ := k.name(s); name == "schedule" && !s.other {
			found = true
			if frames := k.Frames(s.addr + 1); !reflect.DeepEqual(frames, []Frame{{Func: "schedule"}}) {
				t.Errorf("%v", frames)
			}
		}
	}
	if !found {
		t.Error("the kernel has no function schedule")
	}
}

// A BPF program has its lines of source once it was added.
func TestFramesOfBPFPrograms(t *testing.T) {
	testenv.Root(t)
	spec, err := ebpf.LoadCollectionSpec("../../programs/work/work_bpfel.o")
	if err != nil {
		t.Fatal(err)
	}
	coll, err := ebpf.NewCollection(spec)
	if err != nil {
		t.Fatal(err)
	}
	defer coll.Close()
	k, err := ReadKernel()
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range coll.Programs {
		info, err := p.Info()
		if err != nil {
			t.Fatal(err)
		}
		at, ok := info.JitedLineInfos()
		if !ok {
			t.Skip("this kernel does not compile programs, or tells no addresses of them")
		}
		full := "bpf_prog_" + info.Tag + "_" + info.Name
		frames := k.Frames(at[0])
		if len(frames) != 1 || frames[0].Func != full || moduleAt(k, at[0]) != "bpf" {
			t.Errorf("%s: %v", name, frames)
		}
		if err := k.AddProgram(p); err != nil {
			t.Fatal(err)
		}
		frames = k.Frames(at[0])
		if len(frames) != 1 || frames[0].Func != full || !strings.HasSuffix(frames[0].File, "work.c") || frames[0].Line == 0 {
			t.Errorf("%s: %v", name, frames)
		}
	}
}
