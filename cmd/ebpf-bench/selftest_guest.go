package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/fleet"
	"github.com/org/ebpf-bench-action/internal/vm"
)

// objectFile is an object to take programs from.
type objectFile struct {
	name string
	data []byte
}

func readObjectFiles(names []string) ([]objectFile, error) {
	var objects []objectFile
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, exit.Usage(err)
		}
		objects = append(objects, objectFile{name, data})
	}
	return objects, nil
}

// giveObjects adds objects to a guest's files, which are the arguments there.
func giveObjects(g *fleet.Guest, objects []objectFile) (args []string) {
	for i, o := range objects {
		// The base name is for the report; two may be the same.
		file := path.Join(guestRoot, strconv.Itoa(i), filepath.Base(o.name))
		g.Files[file] = o.data
		args = append(args, file)
	}
	return args
}

// nameHere is the name here of a file that giveObjects gave to a guest.
func nameHere(objects []objectFile, file string) string {
	n, err := strconv.Atoi(path.Base(path.Dir(file)))
	if err != nil || n < 0 || n >= len(objects) {
		return file
	}
	return objects[n].name
}

// reportOf has a guest run a selftest that prints one report as JSON. What the
// selftest found wrong is in that report.
func reportOf[R any](ctx context.Context, m *fleet.Fleet, name string, g fleet.Guest) (*R, vm.Info, error) {
	var out bytes.Buffer
	g.Stdout = &out
	info, err := m.Run(ctx, name, g)
	var ended *vm.ExitError
	if err != nil && (!errors.As(err, &ended) || ended.Code != exit.Regression) {
		return nil, info, err
	}
	var reports []*R
	if err := json.Unmarshal(out.Bytes(), &reports); err != nil || len(reports) != 1 {
		return nil, info, fleet.OnKernel(name, fmt.Errorf("read the guest's report: %w", errors.Join(err, fmt.Errorf("%d reports", len(reports)))))
	}
	return reports[0], info, nil
}

// measuredBy says which machine a guest's testbed was.
func measuredBy(t *bench.Testbed, info vm.Info) {
	t.Mode, t.QEMU = bench.Mode(info.Mode.String()), info.QEMU
}
