package modules

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"strings"

	"github.com/org/ebpf-bench-action/internal/kernel/untrusted"
)

// modinfo is what a module says about itself in its section .modinfo.
type modinfo struct {
	// release is the release of the kernel that the module is built for.
	release string
	depends []string
	// soft are modules to load before this one, if they exist.
	soft []string
}

func parseModinfo(module []byte) (*modinfo, error) {
	file, err := elf.NewFile(bytes.NewReader(module))
	if err != nil {
		return nil, fmt.Errorf("not a module: %w", untrusted.UnexpectedEOF(err))
	}
	section := file.Section(".modinfo")
	if section == nil {
		return nil, errors.New("not a module: no .modinfo")
	}
	if section.Flags&elf.SHF_COMPRESSED != 0 {
		return nil, errors.New(".modinfo is compressed")
	}
	data, err := section.Data()
	if err != nil {
		return nil, fmt.Errorf("read .modinfo: %w", err)
	}
	var info modinfo
	for entry := range strings.SplitSeq(string(data), "\x00") {
		key, value, _ := strings.Cut(entry, "=")
		switch key {
		case "depends":
			info.depends = append(info.depends, strings.FieldsFunc(value, isComma)...)
		case "softdep":
			info.soft = append(info.soft, softBefore(value)...)
		case "vermagic":
			info.release, _, _ = strings.Cut(value, " ")
		}
	}
	return &info, nil
}

func isComma(r rune) bool { return r == ',' }

// softBefore returns the list after "pre:" in a softdep such as "pre: a b post: c".
func softBefore(value string) (names []string) {
	before := false
	for word := range strings.FieldsSeq(value) {
		switch word {
		case "pre:":
			before = true
		case "post:":
			before = false
		default:
			if before {
				names = append(names, word)
			}
		}
	}
	return names
}
