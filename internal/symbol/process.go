package symbol

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Process is what a process says in /proc, as proc(5) describes it.
type Process struct {
	PID int
	// Number is its PID in its own PID namespace.
	Number int
	// User is its real user ID.
	User uint32
	// Groups are its real group ID, and the supplementary ones.
	Groups []uint32
}

// ReadProcess reads a process that runs.
func ReadProcess(pid int) (Process, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return Process{}, fmt.Errorf("read process: %w", err)
	}
	return parseStatus(pid, string(text))
}

func parseStatus(pid int, text string) (Process, error) {
	p, known := Process{PID: pid, Number: pid}, false
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(line, ":")
		fields := strings.Fields(value)
		if len(fields) == 0 {
			continue
		}
		switch key {
		case "NSpid":
			if n, err := strconv.Atoi(fields[len(fields)-1]); err == nil {
				p.Number = n
			}
		case "Uid":
			if n, err := strconv.ParseUint(fields[0], 10, 32); err == nil {
				p.User, known = uint32(n), true
			}
		case "Gid":
			fields = fields[:1]
			fallthrough
		case "Groups":
			for _, field := range fields {
				if n, err := strconv.ParseUint(field, 10, 32); err == nil {
					p.Groups = append(p.Groups, uint32(n))
				}
			}
		}
	}
	if !known {
		return p, errors.New("read process: its status has no user ID")
	}
	return p, nil
}
