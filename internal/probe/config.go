package probe

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// maxConfig bounds the size of a kernel's configuration, normally 0.3 MB, in
// bytes.
const maxConfig = 16 << 20

// Config returns the configuration that the kernel was built with, by name, as
// .config spells it, or fs.ErrNotExist if the machine does not have it.
var Config = sync.OnceValues(func() (map[string]string, error) {
	data, err := os.ReadFile("/proc/config.gz")
	if err != nil {
		var uts unix.Utsname
		if err := unix.Uname(&uts); err != nil {
			return nil, err
		}
		if data, err = os.ReadFile("/boot/config-" + unix.ByteSliceToString(uts.Release[:])); err != nil {
			return nil, err
		}
	}
	settings, err := parseConfig(data)
	if err != nil {
		return nil, fmt.Errorf("read the kernel's settings: %w", err)
	}
	return settings, nil
})

// parseConfig parses a .config, which may be compressed.
func parseConfig(data []byte) (map[string]string, error) {
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		r, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		if data, err = io.ReadAll(io.LimitReader(r, maxConfig)); err != nil {
			return nil, err
		}
	}
	settings := map[string]string{}
	for line := range strings.Lines(string(data)) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if ok && value != "" && strings.HasPrefix(name, "CONFIG_") {
			settings[name] = value
		}
	}
	return settings, nil
}
