package object

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
)

// Parse reads an ELF object. Its errors have one line. If the parser panics,
// that is an error of the object, too.
func Parse(data []byte) (*Object, error) {
	o, err := parse(data)
	if err == nil {
		return o, nil
	}
	hint := bench.Hint(err)
	if hint == "" {
		hint = "an object is what clang -target bpf -g -O2 -c writes, or bpf-linker for Rust"
	}
	return nil, bench.WithHint(&lineError{err}, hint)
}

func parse(data []byte) (o *Object, err error) {
	defer func() {
		if p := recover(); p != nil {
			o, err = nil, fmt.Errorf("it is malformed: %v", p)
		}
	}()
	f, err := openFile(data)
	if err != nil {
		return nil, err
	}
	o = &Object{}
	if o.changes, err = f.fixSymbols(); err != nil {
		return nil, err
	}
	f.fixBindings()
	o.changes = append(o.changes, f.fixCalls()...)
	o.hidden = f.hidden()
	kconfig, typed := f.findKconfig(), f.findTypedKsyms()
	if s := f.find(".maps"); s != nil && bytes.ContainsFunc(f.contents(s), func(r rune) bool { return r != 0 }) {
		clear(f.contents(s))
		o.changed("maps are made by their types alone: what their definitions in section .maps are set to means nothing")
	}
	if s := f.find(".struct_ops"); s != nil {
		f.hide(s)
		o.changed("section .struct_ops is left out: no implementation of an interface is registered")
	}
	if err := o.load(f); err != nil {
		return nil, err
	}
	o.fixLicense(f.find("license") != nil)
	if err := o.check(); err != nil {
		return nil, err
	}
	o.fixKconfig(kconfig)
	o.fixTypedKsyms(typed)
	return o, nil
}

// load parses the file. If its type information is broken, load drops that, as
// far as the object can do without.
func (o *Object) load(f *file) (err error) {
	if o.spec, err = parseFile(f); err == nil {
		return nil
	}
	for _, without := range []struct{ section, means string }{
		{".BTF.ext", "its instructions have no source lines, and are not relocated for this kernel's types"},
		{".BTF", "its programs and maps have no types"},
	} {
		s := f.find(without.section)
		if s == nil {
			continue
		}
		f.hide(s)
		spec, second := parseFile(f)
		if second == nil {
			o.changed("section %s is left out, because it cannot be read (%v): %s", without.section, &lineError{err}, without.means)
			o.spec = spec
			return nil
		}
	}
	return err
}

// fixLicense adds a license, without which most programs do not load, if there
// is none, as often in Rust, and cuts off what follows it.
func (o *Object) fixLicense(has bool) {
	if !has {
		o.changed("the license is taken to be GPL: the object has none")
	}
	for _, p := range o.spec.Programs {
		if !has {
			p.License = "GPL"
		}
		// It ends where the kernel's own string would.
		p.License, _, _ = strings.Cut(p.License, "\x00")
	}
}

func parseFile(f *file) (*ebpf.CollectionSpec, error) {
	spec, err := ebpf.LoadCollectionSpecFromReader(bytes.NewReader(f.data))
	var format *elf.FormatError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errTruncated
	case errors.As(err, &format):
		return nil, fmt.Errorf("it is malformed: %w", err)
	}
	return spec, err
}

// maxKconfig bounds the size of an object's kernel settings, in bytes.
const maxKconfig = 1 << 20

// check refuses an object that has nothing to load, or would take much memory
// to inspect.
func (o *Object) check() error {
	var kconfig *btf.Datasec
	if o.spec.Types != nil && o.spec.Types.TypeByName(Kconfig, &kconfig) == nil && kconfig.Size > maxKconfig {
		return fmt.Errorf("its section .kconfig claims %d bytes", kconfig.Size)
	}
	if len(o.Programs()) > 0 {
		return nil
	}
	unknown := map[string]bool{}
	for _, p := range o.spec.Programs {
		unknown[p.SectionName] = true
	}
	if len(unknown) == 0 {
		return ErrNoProgram
	}
	return bench.WithHint(fmt.Errorf("%w of a known type, only sections %s", ErrNoProgram, strings.Join(slices.Sorted(maps.Keys(unknown)), ", ")), sectionHint)
}

// ErrNoProgram says that an object has nothing to load.
var ErrNoProgram = errors.New("it holds no eBPF program")

const sectionHint = "a program's section says its type, such as xdp, tc, kprobe/NAME or tracepoint/GROUP/NAME"

// lineError is an error whose text is one printable line, whatever names the
// object has.
type lineError struct{ error }

func (e *lineError) Error() string { return escape.Printable(e.error.Error()) }
func (e *lineError) Unwrap() error { return e.error }
