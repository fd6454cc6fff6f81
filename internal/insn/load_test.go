package insn

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
)

// kernelTypes is shared because reading the kernel's types takes long.
var kernelTypes = btf.NewCache()

// loadWithLog loads a spec with the verifier's figures in the log.
func loadWithLog(t testing.TB, spec *ebpf.CollectionSpec) (*ebpf.Collection, error) {
	coll, err := ebpf.NewCollectionWithOptions(spec, ebpf.CollectionOptions{
		Programs: ebpf.ProgramOptions{LogLevel: ebpf.LogLevelStats},
		Cache:    kernelTypes,
	})
	if err == nil {
		t.Cleanup(coll.Close)
	}
	return coll, err
}

// brief returns an error with the end of the verifier's log.
func brief(err error) string {
	var refused *ebpf.VerifierError
	if errors.As(err, &refused) {
		return fmt.Sprintf("%v\n%s", err, strings.Join(refused.Log[max(0, len(refused.Log)-25):], "\n"))
	}
	return err.Error()
}
