package probe

import (
	"encoding/binary"
	"os"
	"strings"
	"testing"
)

// exited returns a struct kvm_run.
func exited(reason uint32, port uint16, value byte) []byte {
	state := make([]byte, 64)
	binary.LittleEndian.PutUint32(state[8:], reason)
	binary.LittleEndian.PutUint16(state[34:], port)
	binary.LittleEndian.PutUint64(state[40:], 48)
	state[48] = value
	return state
}

func TestAnsweredReadsWhyAGuestStopped(t *testing.T) {
	const io, internalError = 2, 17
	for name, c := range map[string]struct {
		state []byte
		want  Answer
	}{
		"the answer":     {exited(io, 0x80, 42), Yes},
		"another port":   {exited(io, 0x81, 42), No},
		"another answer": {exited(io, 0x80, 41), No},
		"an error":       {exited(internalError, 0x80, 42), No},
	} {
		if err := answered(c.state); answer(err) != c.want {
			t.Errorf("%s: answers %s: %v", name, answer(err), err)
		}
	}
}

// KVM that opens does not necessarily work: a module of the kernel identifies
// the one that emulates the mode in which a machine starts.
func TestKVMOfSoftwareIsNone(t *testing.T) {
	if _, err := os.Stat("/sys/module/kvm_pvm"); err != nil {
		t.Skip("this machine has no such KVM")
	}
	if _, err := os.Stat("/dev/kvm"); err != nil {
		t.Skipf("the module of such a KVM is here, but not its device: %v", err)
	}
	needRoot(t)
	if err := haveKVM(); answer(err) != No || !strings.Contains(err.Error(), "no kernel boots") {
		t.Errorf("answers %s: %v", answer(err), err)
	}
}
