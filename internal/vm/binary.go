package vm

import (
	"debug/elf"
	"fmt"
	"io"
	"os"
)

// selfExe is this binary, even if its file has been replaced since.
const selfExe = "/proc/self/exe"

// openBinary opens the binary to run in the guest.
func openBinary(name string) (*os.File, error) {
	if name == "" {
		name = selfExe
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open the guest's binary: %w", err)
	}
	if err := checkStatic(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// checkStatic refuses a binary that needs libraries, because a guest has none.
func checkStatic(r io.ReaderAt) error {
	file, err := elf.NewFile(r)
	if err != nil {
		return fmt.Errorf("read the guest's binary: %w", err)
	}
	if file.Machine != elf.EM_X86_64 {
		return fmt.Errorf("the guest's binary is for %s: the VM is an x86-64 one", file.Machine)
	}
	for _, prog := range file.Progs {
		if prog.Type == elf.PT_INTERP {
			return &Fault{
				Kind:   ErrDynamic,
				Reason: "a guest has none of the libraries that it is linked with",
				Hint:   "build it with CGO_ENABLED=0",
			}
		}
	}
	return nil
}
