package probe

import (
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

func TestMissingFrom(t *testing.T) {
	set := func(bits ...int) (s uint64) {
		for _, b := range bits {
			s |= 1 << b
		}
		return s
	}
	for _, c := range []struct {
		name      string
		effective uint64
		want      []string
	}{
		{"nobody", 0, []string{"CAP_BPF", "CAP_PERFMON", "CAP_NET_ADMIN", "CAP_NET_RAW", "CAP_SYS_ADMIN"}},
		{"root", 1<<41 - 1, nil},
		{"root before Linux 5.8", 1<<38 - 1, nil},
		{"a container's root", 0xa80425fb, []string{"CAP_BPF", "CAP_PERFMON", "CAP_NET_ADMIN", "CAP_SYS_ADMIN"}},
		{"setcap for BPF", set(unix.CAP_BPF, unix.CAP_PERFMON, unix.CAP_NET_ADMIN), []string{"CAP_NET_RAW", "CAP_SYS_ADMIN"}},
		{"without the network", set(unix.CAP_SYS_ADMIN), []string{"CAP_NET_ADMIN", "CAP_NET_RAW"}},
	} {
		if got := missingFrom(c.effective); !slices.Equal(got, c.want) {
			t.Errorf("%s: missing %v, want %v", c.name, got, c.want)
		}
	}
}
