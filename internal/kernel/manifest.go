package kernel

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

// manifest is the first file of a pack. It says what the pack has, in order.
type manifest struct {
	Format  int            `json:"format"`
	Release string         `json:"release"`
	Arch    string         `json:"arch"`
	Origin  string         `json:"origin"`
	Files   []manifestFile `json:"files"`
	Builtin []string       `json:"builtin"`
}

type manifestFile struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// The names in a pack. The image, vmlinux or vmlinuz, comes last, so that the
// rest can be read without unpacking it.
const (
	manifestName  = "manifest.json"
	configName    = "config"
	systemMapName = "System.map"
	modulePrefix  = "modules/"
)

func moduleFile(name string) string { return modulePrefix + name + ".ko" }

func (m *manifest) marshal() ([]byte, error) {
	data, err := json.MarshalIndent(m, "", "  ")
	return append(data, '\n'), err
}

func parseManifest(data []byte) (*manifest, error) {
	var m manifest
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

func (m *manifest) checkFiles() error {
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
	if n := len(m.Files); n == 0 || !isImageFile(m.Files[n-1].Name) || seen[vmlinuxName] && seen[vmlinuzName] {
		return errors.New("names no kernel image as its last file")
	}
	return nil
}

// packLimit is how large a file of a pack may be, if there may be such a one.
func packLimit(name string) (limit int64, ok bool) {
	switch {
	case name == configName || name == systemMapName:
		return untrusted.MaxText, true
	case isImageFile(name):
		return untrusted.MaxImage, true
	case path.Dir(name)+"/" == modulePrefix && strings.HasSuffix(name, ".ko"):
		return untrusted.MaxModule, true
	}
	return 0, false
}

func isImageFile(name string) bool { return name == vmlinuxName || name == vmlinuzName }

// image is the manifest's last file.
func (m *manifest) image() manifestFile { return m.Files[len(m.Files)-1] }

// imageFormat is the format of that file.
func (m *manifest) imageFormat() image.Format {
	switch {
	case m.image().Name == vmlinuxName:
		return image.ELF
	case m.Arch == "arm64":
		return image.Arm64
	default:
		return image.BzImage
	}
}
