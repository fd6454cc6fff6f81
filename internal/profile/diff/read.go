package diff

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	pprof "github.com/google/pprof/profile"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/input"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// Profile is a profile that was read from a file.
type Profile struct {
	Name string
	*pprof.Profile
}

func (p *Profile) side() Side {
	return Side{Name: p.Name, Duration: max(time.Duration(p.DurationNanos), 0)}
}

// maxSize bounds what a profile is uncompressed, and maxParsed what is made of it, in bytes. One
// of 500,000 stacks of 50 functions takes half of the latter.
const (
	maxSize   = 256 << 20
	maxParsed = 2 << 30
)

// ReadBoth reads two profiles. They must not be one file, which has no change.
func ReadBoth(ctx context.Context, base, head string) (b, h *Profile, err error) {
	if first, err := os.Stat(base); err == nil && first.Mode().IsRegular() {
		if second, err := os.Stat(head); err == nil && os.SameFile(first, second) {
			return nil, nil, fmt.Errorf("BASE and HEAD are one file, %s: nothing changed", base)
		}
	}
	if b, err = readFile(ctx, base); err != nil {
		return nil, nil, err
	}
	if h, err = readFile(ctx, head); err != nil {
		return nil, nil, err
	}
	return b, h, nil
}

func readFile(ctx context.Context, name string) (*Profile, error) {
	f, err := input.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &Profile{name, p}, nil
}

// Read reads a profile in the format of pprof, compressed or not.
func Read(r io.Reader) (*pprof.Profile, error) { return read(r, maxSize) }

func read(r io.Reader, most int64) (*pprof.Profile, error) {
	in := bufio.NewReader(r)
	var data io.Reader = in
	if magic, err := in.Peek(2); err == nil && magic[0] == 0x1f && magic[1] == 0x8b {
		if data, err = gzip.NewReader(in); err != nil {
			return nil, damaged(err)
		}
	}
	text, err := io.ReadAll(io.LimitReader(data, most+1))
	switch {
	case err != nil && data != in:
		return nil, damaged(err)
	case err != nil:
		return nil, err
	case int64(len(text)) > most:
		return nil, fmt.Errorf("it has more than %d bytes", most)
	}
	parsed, ok := parsedSize(text)
	switch {
	case !ok:
		return nil, noProfile()
	case parsed > maxParsed:
		return nil, fmt.Errorf("it would take %s of memory, more than %s", unit.Bytes(float64(parsed)), unit.Bytes(maxParsed))
	}
	p, err := pprof.ParseUncompressed(text)
	if err == nil {
		err = p.CheckValid()
	}
	switch {
	case err != nil || len(p.SampleType) == 0:
		return nil, noProfile()
	case len(p.SampleType) > maxTypes:
		return nil, fmt.Errorf("it has %d types of values, more than %d", len(p.SampleType), maxTypes)
	case len(p.Sample) == 0:
		return nil, errors.New("the profile has no samples")
	}
	return p, nil
}

func noProfile() error {
	return bench.WithHint(errors.New("it is not a profile in the format of pprof"), "record one with ebpf-bench profile --out X.pb.gz")
}

func damaged(err error) error {
	return bench.WithHint(fmt.Errorf("the file is damaged: %w", err), "record or copy it anew")
}
