package kernel

import (
	"bytes"

	"github.com/org/ebpf-bench-action/internal/kernel/imagetest"
	"github.com/org/ebpf-bench-action/internal/kernel/modules"
)

// testKernel is the kernel of imagetest.Installed.
func testKernel() *Kernel {
	u := newUnpacked()
	imagetest.Check(u.addTar(bytes.NewReader(imagetest.Tar(imagetest.Installed()))))
	k := imagetest.Must(u.tree().load(""))
	k.Origin = "a test"
	return k
}

func moduleNames(modules []modules.Module) (names []string) {
	for _, m := range modules {
		names = append(names, m.Name)
	}
	return names
}
