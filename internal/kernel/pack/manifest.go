// Package pack writes and reads the packed form of a kernel: a tar archive compressed by
// zstd, which consists of a manifest, modules, config and System.map if there are any, and
// the image.
package pack

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/org/ebpf-bench-action/internal/kernel/image"
	"github.com/org/ebpf-bench-action/internal/kernel/uname"
	"github.com/org/ebpf-bench-action/internal/kernel/untrusted"
)

// manifestFormat is the version of the packed form.
const manifestFormat = 1

// Manifest is the first file of a pack. It lists the other files, in order.
type Manifest struct {
	Format  int      `json:"format"`
	Release string   `json:"release"`
	Arch    string   `json:"arch"`
	Origin  string   `json:"origin"`
	Files   []File   `json:"files"`
	Builtin []string `json:"builtin"`
}

// File is a file of a pack.
type File struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Begins reports whether data that begins with head may be a pack.
func Begins(head []byte) bool { return bytes.HasPrefix(head, []byte(untrusted.ZstdMagic)) }

// The names in a pack. The image, vmlinux or vmlinuz, comes last, so that the rest can be
// read without unpacking it.
const (
	manifestName  = "manifest.json"
	ConfigFile    = "config"
	SystemMapFile = "System.map"
	VmlinuxFile   = "vmlinux"
	VmlinuzFile   = "vmlinuz"
	modulePrefix  = "modules/"
)

// ModuleFile returns the file of a module.
func ModuleFile(name string) string { return modulePrefix + name + ".ko" }

// ModuleOf returns the module of a file.
func ModuleOf(file string) string { return strings.TrimSuffix(path.Base(file), ".ko") }

func (m *Manifest) marshal() ([]byte, error) {
	data, err := json.MarshalIndent(m, "", "  ")
	return append(data, '\n'), err
}

func parseManifest(data []byte) (*Manifest, error) {
	var m Manifest
	d := json.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&m); err != nil {
		return nil, untrusted.UnexpectedEOF(err)
	}
	if m.Format != manifestFormat {
		return nil, fmt.Errorf("packed in format %d, not %d", m.Format, manifestFormat)
	}
	if _, err := uname.Check(m.Release); err != nil {
		return nil, err
	}
	if !image.IsArch(m.Arch) {
		return nil, fmt.Errorf("architecture reads %q", m.Arch)
	}
	return &m, m.checkFiles()
}

func (m *Manifest) checkFiles() error {
	seen := map[string]bool{}
	for _, f := range m.Files {
		limit, ok := packLimit(f.Name)
		switch {
		case !ok || seen[f.Name]:
			return fmt.Errorf("names a file %q", f.Name)
		case f.Size < 0 || f.Size > limit:
			return fmt.Errorf("%s: size is %d", f.Name, f.Size)
		case !untrusted.IsSHA256(f.SHA256):
			return fmt.Errorf("%s: SHA-256 reads %q", f.Name, f.SHA256)
		}
		seen[f.Name] = true
	}
	if n := len(m.Files); n == 0 || !isImageFile(m.Files[n-1].Name) || seen[VmlinuxFile] && seen[VmlinuzFile] {
		return errors.New("names no kernel image as its last file")
	}
	return nil
}

// packLimit returns how large a file of a pack may be, and whether a pack may have it.
func packLimit(name string) (limit int64, ok bool) {
	switch {
	case name == ConfigFile || name == SystemMapFile:
		return untrusted.MaxText, true
	case isImageFile(name):
		return untrusted.MaxImage, true
	case path.Dir(name)+"/" == modulePrefix && strings.HasSuffix(name, ".ko"):
		return untrusted.MaxModule, true
	}
	return 0, false
}

func isImageFile(name string) bool { return name == VmlinuxFile || name == VmlinuzFile }

// ImageFile returns the manifest's last file.
func (m *Manifest) ImageFile() File { return m.Files[len(m.Files)-1] }

// ImageFormat returns the format of that file.
func (m *Manifest) ImageFormat() image.Format {
	switch {
	case m.ImageFile().Name == VmlinuxFile:
		return image.ELF
	case m.Arch == "arm64":
		return image.Arm64
	default:
		return image.BzImage
	}
}
