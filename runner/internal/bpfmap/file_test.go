package bpfmap

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
)

func TestParseEntries(t *testing.T) {
	hash := &ebpf.MapSpec{Name: "m", Type: ebpf.Hash, KeySize: 2, ValueSize: 4, MaxEntries: 8}
	queue := &ebpf.MapSpec{Name: "q", Type: ebpf.Queue, ValueSize: 1, MaxEntries: 8}
	for _, c := range []struct {
		name, text string
		m          *ebpf.MapSpec
		want       string // hex of key=value pairs, or what the error has
	}{
		{"lines", "# flows\n1 2\n\n\t0xff00   0x0a000001\r\n", hash, "0100=02000000 ff00=0a000001"},
		{"negative", "1 -1", hash, "0100=ffffffff"},
		{"values of a queue", "1\n0xff\n", queue, "=01 =ff"},
		{"a dump", ` [{"key":["0x01","0x00"],"value":["0x02","0x00","0x00","0x00"]}]`, hash, "0100=02000000"},
		{"a dump of each CPU", `[{"key":["0x01","0x00"],"values":[{"cpu":0,"value":["0x02","0x00","0x00","0x00"]},{"cpu":1,"value":[]}]}]`, hash, "0100=02000000"},
		{"nothing", "# only this\n", hash, "no entries"},
		{"an empty dump", "[]", hash, "no entries"},
		{"no value", `[{"key":["0x01","0x00"]}]`, hash, "entry 1 has no value"},
		{"no key", `[{"value":["0x02","0x00","0x00","0x00"]}]`, hash, "entry 1: key: no value"},
		{"no byte", `[{"key":["0x101","0x00"]}]`, hash, `"0x101" is not a byte`},
		{"a short key", "0x01 1", hash, `"0x01" has 1 bytes, not 2`},
		{"a name", "a b", hash, `line 1: "a" is not a decimal number`},
		{"a fraction", "1 0.5", hash, `"0.5" is not an integer`},
	} {
		t.Run(c.name, func(t *testing.T) {
			entries, err := parseEntries(c.m, []byte(c.text))
			var got []string
			for _, e := range entries {
				got = append(got, hex.EncodeToString(e.Key)+"="+hex.EncodeToString(e.Value))
			}
			switch {
			case err != nil && !strings.Contains(err.Error(), c.want):
				t.Errorf("error %v, want %q", err, c.want)
			case err == nil && strings.Join(got, " ") != c.want:
				t.Errorf("got %v, want %q", got, c.want)
			}
		})
	}
}

func FuzzParseEntries(f *testing.F) {
	f.Add([]byte("1 2\n0xff 0x01\n"), uint8(2), uint8(4))
	f.Add([]byte(`[{"key":["0x01"],"value":["0x02"]}]`), uint8(1), uint8(1))
	f.Add([]byte("7"), uint8(0), uint8(8))
	f.Fuzz(func(t *testing.T, data []byte, key, value uint8) {
		m := &ebpf.MapSpec{Type: ebpf.Hash, KeySize: uint32(key), ValueSize: uint32(value)}
		entries, err := parseEntries(m, data)
		if (err == nil) != (len(entries) > 0) {
			t.Fatalf("%d entries and error %v", len(entries), err)
		}
		for _, e := range entries {
			if len(e.Key) != int(key) || len(e.Value) != int(value) {
				t.Errorf("a key of %d and a value of %d bytes, want %d and %d", len(e.Key), len(e.Value), key, value)
			}
		}
	})
}

func TestGenerateEntries(t *testing.T) {
	m := &ebpf.MapSpec{Name: "m", Type: ebpf.Hash, KeySize: 2, ValueSize: 4, MaxEntries: 1 << 16}
	all := func(g bench.GeneratedEntries) string {
		entries, err := generateEntries(m, &g)
		if err != nil {
			t.Fatal(err)
		}
		keys := map[string]bool{}
		var b strings.Builder
		for _, e := range entries {
			keys[string(e.Key)] = true
			b.Write(e.Key)
			b.Write(e.Value)
		}
		if len(keys) != g.Count {
			t.Errorf("%+v: %d different keys", g, len(keys))
		}
		return b.String()
	}
	random := bench.GeneratedEntries{Count: 1 << 16, Keys: bench.PatternRandom, Values: bench.PatternRandom}
	if first, second := all(random), all(random); first != second {
		t.Error("random entries differ from time to time")
	}
	numbered := all(bench.GeneratedEntries{Count: 300, Keys: bench.PatternNumbered, Values: bench.PatternNumbered})
	if got := hex.EncodeToString([]byte(numbered[6*257 : 6*258])); got != "010101010000" {
		t.Errorf("entry 257 is %s", got)
	}
	one := &ebpf.MapSpec{Type: ebpf.Hash, KeySize: 1, MaxEntries: 1000}
	if _, err := generateEntries(one, &bench.GeneratedEntries{Count: 257}); err == nil {
		t.Error("257 different keys of a byte")
	}
}

// Entries that could not be generated, or would mean nothing, are refused
// beforehand.
func TestEntriesThatMakeNoSense(t *testing.T) {
	random := bench.MapPrep{Generate: &bench.GeneratedEntries{Count: 2, Keys: bench.PatternRandom}}
	given := bench.MapPrep{Entries: []bench.MapEntry{{Key: 1, Value: 9}}}
	for _, c := range []struct {
		m    ebpf.MapSpec
		prep bench.MapPrep
		want string
	}{
		{ebpf.MapSpec{Type: ebpf.Queue, ValueSize: 4, MaxEntries: 8}, random, "a queue has no keys"},
		{ebpf.MapSpec{Type: ebpf.LPMTrie, KeySize: 8, ValueSize: 4, MaxEntries: 8}, random, "the length of a prefix"},
		{ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 4, MaxEntries: 8}, random, "indices"},
		{ebpf.MapSpec{Type: ebpf.ProgramArray, KeySize: 4, ValueSize: 4, MaxEntries: 8}, given, "map m: entry 1: the map holds programs"},
		{ebpf.MapSpec{Type: ebpf.SockHash, KeySize: 4, ValueSize: 4, MaxEntries: 8}, given, "map m is of type sockhash"},
		{ebpf.MapSpec{Type: ebpf.SockHash, KeySize: 4, ValueSize: 4, MaxEntries: 8}, bench.MapPrep{Reset: bench.ResetSlice}, "which cannot be reset"},
		{ebpf.MapSpec{Type: ebpf.ProgramArray, KeySize: 4, ValueSize: 4, MaxEntries: 8}, bench.MapPrep{Reset: bench.ResetSlice}, "which cannot be reset"},
		{ebpf.MapSpec{Type: ebpf.Queue, ValueSize: 4, MaxEntries: 8}, bench.MapPrep{Entries: []bench.MapEntry{{Value: 9}}, Reset: bench.ResetSlice}, "cannot be reset to its entries"},
		{ebpf.MapSpec{Type: ebpf.Hash, KeySize: 4, ValueSize: 4, MaxEntries: 1 << 20}, bench.MapPrep{Reset: bench.ResetSlice, Generate: &bench.GeneratedEntries{Count: maxReset + 1}}, "map m: it holds more than 65536 entries, too many to be reset before each slice"},
		{ebpf.MapSpec{Type: ebpf.PerCPUArray, KeySize: 4, ValueSize: 4, MaxEntries: maxReset + 1}, bench.MapPrep{Reset: bench.ResetSlice}, "too many to be reset"},
	} {
		spec := &ebpf.CollectionSpec{Maps: map[string]*ebpf.MapSpec{"m": &c.m}}
		_, err := Prepare(nil, spec, map[string]bench.MapPrep{"m": c.prep}, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.m.Type, err, c.want)
		}
	}
}
