package kernel

import (
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/org/ebpf-bench-action/internal/kernel/image"
	"github.com/org/ebpf-bench-action/internal/kernel/modules"
	"github.com/org/ebpf-bench-action/internal/kernel/pack"
)

// needed are the modules that every pack has, beside their dependencies and the modules
// that its maker asks for. Modules that a kernel has built in, or lacks, are left out. All
// of them together are some 2 MB.
var needed = []string{
	// The interfaces that traffic runs over, and that a suite may attach to.
	"veth",
	"dummy",
	"tun",
	// For tc programs that are attached by netlink: as a filter of the clsact qdisc, or as
	// an action of one.
	"sch_ingress",
	"cls_bpf",
	"act_bpf",
	// The kfuncs for connection tracking, which the verifier finds in the BTF of the
	// module, and reassembly for netfilter programs.
	"nf_conntrack",
	"nf_defrag_ipv4",
	"nf_defrag_ipv6",
	// The fast port from a VM to its host.
	"virtio_pci",
	"virtio_console",
}

// Pack writes the packed form of a kernel: a tar archive compressed by zstd, which
// consists of a manifest, the modules that eBPF programs and their traffic need with those
// named as extra, the config and System.map if there are any, and the image that QEMU
// boots fastest. The same kernel packs to the same bytes.
func Pack(w io.Writer, k *Kernel, extra ...string) error {
	p, err := newPack(k, extra)
	if err != nil {
		return fmt.Errorf("pack kernel %s: %w", k.Release, err)
	}
	if err := p.Write(w); err != nil {
		return fmt.Errorf("pack kernel %s: %w", k.Release, err)
	}
	return nil
}

func newPack(k *Kernel, extra []string) (*pack.Pack, error) {
	p := pack.New(k.Release, k.Arch, k.Origin, k.modules.Builtin())
	modules, _, err := k.Modules(slices.Concat(needed, k.packed, extra)...)
	if err != nil {
		return nil, err
	}
	for _, m := range modules {
		p.Add(pack.ModuleFile(m.Name), m.Data)
	}
	if k.Config != nil {
		p.Add(pack.ConfigFile, k.Config)
	}
	if k.systemMap != nil {
		p.Add(pack.SystemMapFile, k.systemMap)
	}
	name, image, err := k.boot()
	if err != nil {
		return nil, err
	}
	p.Add(name, image)
	return p, nil
}

// unpack reads the packed form of a kernel. It refuses a pack with a file that does not
// match the manifest.
func unpack(r io.Reader) (*Kernel, error) {
	p, err := pack.Open(r)
	if err != nil {
		return nil, fmt.Errorf("unpack kernel: %w", err)
	}
	defer p.Close()
	k, err := readPack(p)
	if err != nil {
		return nil, fmt.Errorf("unpack kernel %s: %w", p.Release, err)
	}
	data, err := p.Next()
	if err != nil {
		return nil, fmt.Errorf("unpack kernel %s: %w", p.Release, err)
	}
	if err := p.End(); err != nil {
		return nil, fmt.Errorf("unpack kernel %s: %w", p.Release, err)
	}
	// Kernels are chosen by their release.
	if is, err := image.Describe(data); err == nil && is.Release != p.Release {
		return nil, fmt.Errorf("unpack kernel %s: its image is Linux %s", p.Release, is.Release)
	}
	k.image = imageOf(data, p.ImageFormat())
	return k, nil
}

// readPack reads all of a pack except the image, which comes last.
func readPack(p *pack.Reader) (*Kernel, error) {
	k := &Kernel{Release: p.Release, Arch: p.Arch, Origin: p.Origin}
	files := map[string][]byte{}
	for _, f := range p.Files[:len(p.Files)-1] {
		data, err := p.Next()
		if err != nil {
			return nil, err
		}
		switch f.Name {
		case pack.ConfigFile:
			k.Config = data
		case pack.SystemMapFile:
			k.systemMap = data
		default:
			files[f.Name] = data
			k.packed = append(k.packed, pack.ModuleOf(f.Name))
		}
	}
	k.modules = modules.Unpacked(files, p.Builtin)
	return k, nil
}

// FromPack returns the kernel in a file that Pack wrote.
func FromPack(name string) (*Kernel, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("unpack kernel: %w", err)
	}
	defer f.Close()
	k, err := unpack(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return k, nil
}
