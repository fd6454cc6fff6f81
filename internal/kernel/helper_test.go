package kernel

import (
	"bytes"

	"github.com/org/ebpf-bench-action/internal/kernel/imagetest"
	"github.com/org/ebpf-bench-action/internal/kernel/modules"
	"github.com/org/ebpf-bench-action/internal/kernel/tree"
)

// testKernel returns the kernel of imagetest.Installed.
func testKernel() *Kernel {
	u := tree.NewArchive()
	imagetest.Check(u.AddTar(bytes.NewReader(imagetest.Tar(imagetest.Installed()))))
	k := imagetest.Must(ofTree(u.Find()))
	k.Origin = "a test"
	return k
}

func moduleNames(modules []modules.Module) (names []string) {
	for _, m := range modules {
		names = append(names, m.Name)
	}
	return names
}
