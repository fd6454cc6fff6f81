package story

import (
	"archive/tar"
	"bytes"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/fleet"
	"github.com/org/ebpf-bench-action/internal/kernel"
)

// installKernel lays out a kernel from the cache in two folders as Debian splits it over
// packages, the image and the modules, and sets RELEASE: installkernel NAME IMAGEDIR
// MODULESDIR.
func installKernel(ts *testscript.TestScript, neg bool, args []string) {
	cache, err := kernel.OpenCache("")
	ts.Check(err)
	k, err := cache.Get(args[0])
	ts.Check(err)
	file, err := k.BootFile("")
	ts.Check(err)
	image, err := os.ReadFile(file)
	ts.Check(err)
	builtin := ""
	add := func(dir, file string, data []byte) {
		file = filepath.Join(ts.MkAbs(dir), "usr/lib/modules", k.Release, file)
		ts.Check(os.MkdirAll(filepath.Dir(file), 0o755))
		ts.Check(os.WriteFile(file, data, 0o644))
	}
	for _, module := range fleet.Modules {
		files, missing, err := k.Modules(module)
		ts.Check(err)
		if len(files)+len(missing) == 0 {
			builtin += "kernel/" + module + ".ko\n"
		}
		for _, m := range files {
			add(args[2], "kernel/"+m.Name+".ko", m.Data)
		}
	}
	add(args[1], "vmlinuz", image)
	add(args[1], "config", k.Config)
	add(args[2], "modules.builtin", []byte(builtin))
	ts.Setenv("RELEASE", k.Release)
}

// serveImage starts a registry with an image of one layer, a folder, and sets IMAGE to its
// reference: registry FOLDER.
func serveImage(ts *testscript.TestScript, neg bool, args []string) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	ts.Defer(server.Close)
	var layer bytes.Buffer
	w := tar.NewWriter(&layer)
	ts.Check(w.AddFS(os.DirFS(ts.MkAbs(args[0]))))
	ts.Check(w.Close())
	image, err := mutate.AppendLayers(empty.Image, static.NewLayer(layer.Bytes(), types.DockerUncompressedLayer))
	ts.Check(err)
	reference := strings.TrimPrefix(server.URL, "http://") + "/kernels/linux:latest"
	ref, err := name.ParseReference(reference)
	ts.Check(err)
	ts.Check(remote.Write(ref, image))
	ts.Setenv("IMAGE", reference)
}

// hasHostKernel reports whether this machine has a readable image of its kernel.
func hasHostKernel() bool {
	var uts unix.Utsname
	if unix.Uname(&uts) != nil {
		return false
	}
	release := unix.ByteSliceToString(uts.Release[:])
	for _, file := range []string{"/boot/vmlinuz-" + release, "/lib/modules/" + release + "/vmlinuz"} {
		if f, err := os.Open(file); err == nil {
			f.Close()
			return true
		}
	}
	return false
}
