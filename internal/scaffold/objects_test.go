package scaffold

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// elfHead returns just enough of an ELF file to identify it.
func elfHead(order binary.ByteOrder, data byte, typ, machine uint16) []byte {
	head := make([]byte, 64)
	copy(head, "\x7fELF\x02")
	head[5] = data
	order.PutUint16(head[16:], typ)
	order.PutUint16(head[18:], machine)
	return head
}

func TestCheckBPF(t *testing.T) {
	little, big := byte(1), byte(2)
	native, foreign := errByteOrder, error(nil)
	if binary.NativeEndian.Uint16([]byte{1, 0}) == 1 {
		native, foreign = nil, errByteOrder
	}
	for _, c := range []struct {
		name string
		text []byte
		want error
	}{
		{"little-endian", elfHead(binary.LittleEndian, little, 1, 247), native},
		{"big-endian", elfHead(binary.BigEndian, big, 1, 247), foreign},
		{"of an old compiler", elfHead(binary.LittleEndian, little, 1, 0), native},
		{"of another machine", elfHead(binary.LittleEndian, little, 1, 62), errNoBPF},
		{"a program", elfHead(binary.LittleEndian, little, 2, 247), errNoBPF},
		{"cut off", elfHead(binary.LittleEndian, little, 1, 247)[:19], errNoBPF},
		{"text", []byte("#!/bin/sh\n# and more than twenty bytes"), errNoBPF},
		{"empty", nil, errNoBPF},
	} {
		file := filepath.Join(t.TempDir(), "x.o")
		if err := os.WriteFile(file, c.text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := checkBPF(file); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

// A pattern stands for several objects of a folder if it matches only these.
func TestPatterns(t *testing.T) {
	t.Chdir(t.TempDir())
	touch := func(names ...string) {
		for _, name := range names {
			if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	touch("bpf/a.o", "bpf/b.o", "two/a_bpfel.o", "two/b_bpfel.o", "two/a_bpfeb.o", "mixed/a.o", "mixed/b.o", "mixed/c.o", "[x]/a.o", "[x]/b.o", "one/*.o")
	for _, c := range []struct {
		dir   string
		names []string
		want  []string
	}{
		{".", []string{"bpf/b.o", "bpf/a.o"}, []string{"bpf/*.o"}},
		{"bpf", []string{"a.o", "b.o"}, []string{"*.o"}},
		{"bpf", []string{"../two/a_bpfel.o", "../two/b_bpfel.o"}, []string{"../two/*_bpfel.o"}},
		{".", []string{"mixed/a.o", "mixed/b.o"}, []string{"mixed/a.o", "mixed/b.o"}},
		{".", []string{"bpf/a.o"}, []string{"bpf/a.o"}},
		{".", []string{"[x]/a.o", "[x]/b.o"}, []string{`\[x]/*.o`}},
		{".", []string{"one/*.o"}, []string{`one/\*.o`}},
	} {
		a := &Objects{dir: c.dir}
		if got := a.folder(filepath.Dir(c.names[0]), c.names); !slices.Equal(got, c.want) {
			t.Errorf("%q in %s: %q, want %q", c.names, c.dir, got, c.want)
		}
	}
}
