package vm

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// monitor talks QMP with QEMU, over a pair of sockets.
type monitor struct {
	conn *os.File
}

// newMonitor returns a monitor, and the file that QEMU inherits for it.
func newMonitor() (*monitor, *os.File, error) {
	// Closing a non-blocking socket ends reads from it.
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make a pair of sockets: %w", err)
	}
	mine, theirs := os.NewFile(uintptr(fds[0]), "monitor"), os.NewFile(uintptr(fds[1]), "monitor")
	return &monitor{mine}, theirs, nil
}

// qmpMessage is a message from QEMU, as far as it matters here.
type qmpMessage struct {
	// Greeting is the first message.
	Greeting *struct {
		Version struct {
			QEMU    struct{ Major, Minor, Micro int }
			Package string
		}
	} `json:"QMP"`
	Event string
	// Return is the answer to a command.
	Return struct{ Status string }
}

// version returns the version of QEMU in a greeting.
func (m *qmpMessage) version() string {
	v := m.Greeting.Version
	text := fmt.Sprintf("%d.%d.%d", v.QEMU.Major, v.QEMU.Minor, v.QEMU.Micro)
	if v.Package != "" {
		text += " (" + strings.TrimSpace(v.Package) + ")"
	}
	return text
}

// maxMessages bounds what is read from QEMU, which sends a few hundred bytes.
const maxMessages = 1 << 20

// read passes on the messages until QEMU ends.
func (m *monitor) read(messages chan<- qmpMessage) {
	defer close(messages)
	decoder := json.NewDecoder(io.LimitReader(m.conn, maxMessages))
	for {
		var msg qmpMessage
		if decoder.Decode(&msg) != nil {
			return
		}
		messages <- msg
	}
}

// The QMP commands in use.
const (
	// qmpCapabilities comes first.
	qmpCapabilities = "qmp_capabilities"
	qmpStatus       = "query-status"
	qmpNMI          = "inject-nmi"
)

// execute sends a command.
func (m *monitor) execute(command string) error {
	_, err := fmt.Fprintf(m.conn, "{\"execute\":%q}\n", command)
	return err
}

func (m *monitor) Close() error { return m.conn.Close() }
