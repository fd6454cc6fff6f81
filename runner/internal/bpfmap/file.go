package bpfmap

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/strictjson"
)

// maxFileEntries bounds the entries of a file: writing more would take longer
// than measuring anything.
const maxFileEntries = 1_000_000

// parseEntries reads a file of entries: the output of bpftool --json map dump,
// or lines of a key and a value.
func parseEntries(m *ebpf.MapSpec, data []byte) ([]Entry, error) {
	var entries []bench.MapEntry
	var err error
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) {
		entries, err = parseDump(data)
	} else {
		entries, err = parseLines(m, string(data))
	}
	if err != nil {
		return nil, err
	}
	if len(entries) == 0 {
		return nil, errors.New("it has no entries")
	}
	if len(entries) > maxFileEntries {
		return nil, fmt.Errorf("it has more than %d entries", maxFileEntries)
	}
	all := make([]Entry, len(entries))
	for i, e := range entries {
		if all[i], err = encodeEntry(m, e); err != nil {
			return nil, fmt.Errorf("entry %d: %w", i+1, err)
		}
	}
	return all, nil
}

// dumped is an element of the output of bpftool --json map dump.
type dumped struct {
	Key    hexBytes `json:"key"`
	Value  hexBytes `json:"value"`
	Values []struct {
		Value hexBytes `json:"value"`
	} `json:"values"` // of a per-CPU map, one for each CPU
}

func parseDump(data []byte) ([]bench.MapEntry, error) {
	var all []dumped
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("it is not a dump of a map, as bpftool --json map dump writes one: %w", strictjson.Reword(err))
	}
	var entries []bench.MapEntry
	for i, d := range all {
		value := d.Value
		if value == "" && len(d.Values) > 0 {
			value = d.Values[0].Value
		}
		if value == "" {
			return nil, fmt.Errorf("entry %d has no value", i+1)
		}
		e := bench.MapEntry{Value: string(value)}
		if d.Key != "" {
			e.Key = string(d.Key)
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// hexBytes are hex digits, decoded from a list of bytes such as
// ["0x0a","0x00"].
type hexBytes string

func (h *hexBytes) UnmarshalJSON(text []byte) error {
	var list []string
	if err := json.Unmarshal(text, &list); err != nil {
		return fmt.Errorf("%.40s is not a list of bytes", text)
	}
	for _, b := range list {
		digits := strings.TrimPrefix(b, "0x")
		if _, err := hex.DecodeString(digits); err != nil || len(digits) != 2 {
			return fmt.Errorf("%q is not a byte", b)
		}
		*h += hexBytes(digits)
	}
	return nil
}

// parseLines reads a key and a value per line, or just a value if the map has
// no keys: decimal numbers, or hex digits after 0x. It skips empty lines and
// those that start with #.
func parseLines(m *ebpf.MapSpec, text string) ([]bench.MapEntry, error) {
	var entries []bench.MapEntry
	for i, line := range strings.Split(text, "\n") {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		want := 2
		if m.KeySize == 0 {
			want = 1
		}
		for _, f := range fields {
			if _, err := strconv.ParseFloat(f, 64); err != nil && !strings.HasPrefix(f, "0x") {
				return nil, fmt.Errorf("line %d: %.40q is not a decimal number and does not begin with 0x, as hex digits do here", i+1, f)
			}
		}
		if len(fields) != want {
			return nil, fmt.Errorf("line %d has %d words: it takes %s", i+1, len(fields), map[int]string{1: "a value", 2: "a key and a value"}[want])
		}
		e := bench.MapEntry{Value: written(fields[want-1])}
		if want == 2 {
			e.Key = written(fields[0])
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// written returns a word in the form of the suite file: a decimal number, or a
// string of hex digits if it starts with 0x.
func written(word string) any {
	if n, err := strconv.ParseInt(word, 10, 64); err == nil {
		return n
	}
	if n, err := strconv.ParseUint(word, 10, 64); err == nil {
		return n
	}
	return word
}
