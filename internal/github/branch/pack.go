package branch

import (
	"bytes"
	"context"
	"encoding/base64"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Listing runs needs one file, and so one request, per run, and GitHub grants a job's
// token a thousand requests an hour. So one more file on the branch holds all the small
// ones, one line each in base64. It is only a shortcut: a line is found by the SHA-1 of
// its content, and files that are not in it are requested.

// smallFiles holds the small files that are known, by SHA-1.
type smallFiles struct {
	mu    sync.Mutex
	known map[string][]byte
	packs map[string]bool
}

const (
	maxSmall = 16 << 10  // bytes of a small file
	maxKnown = 1_000_000 // small files
	maxPack  = 64 << 20  // bytes of the file that holds them
)

func newSmallFiles() *smallFiles {
	return &smallFiles{known: make(map[string][]byte), packs: make(map[string]bool)}
}

func (s *smallFiles) get(sha string) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	data, ok := s.known[sha]
	return data, ok
}

func (s *smallFiles) put(sha string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(data) <= maxSmall && len(s.known) < maxKnown {
		s.known[sha] = data
	}
}

// unpack adds the files in the branch's pack to the known small files.
func (b *Store) unpack(ctx context.Context, at *snapshot) {
	b.small.mu.Lock()
	done := b.small.packs[at.pack]
	b.small.packs[at.pack] = true
	b.small.mu.Unlock()
	if done || at.pack == "" {
		return
	}
	pack, err := b.blob(ctx, at.pack)
	if err != nil || len(pack) > maxPack {
		return
	}
	for line := range bytes.Lines(pack) {
		if data, err := base64.StdEncoding.DecodeString(string(bytes.TrimSpace(line))); err == nil {
			b.small.put(gitSHA(data), data)
		}
	}
}

// addSmall adds the file that holds all the small ones, as they are after the change.
func (w *workdir) addSmall(ctx context.Context, changed map[string][]byte) error {
	small := make(map[string][]byte)
	missing := make(map[string][]string)
	for path, sha := range w.at.files {
		if _, ok := changed[path]; !ok && listed(path) {
			missing[sha] = append(missing[sha], path)
		}
	}
	err := w.branch.blobs(ctx, w.at, slices.Sorted(maps.Keys(missing)), func(sha string, data []byte) error {
		for _, path := range missing[sha] {
			small[path] = data
		}
		return nil
	})
	if err != nil {
		return err
	}
	for path, data := range changed {
		if data != nil && listed(path) {
			small[path] = data
		}
	}
	var b strings.Builder
	for _, path := range slices.Sorted(maps.Keys(small)) {
		if len(small[path]) <= maxSmall {
			b.WriteString(base64.StdEncoding.EncodeToString(small[path]) + "\n")
		}
	}
	if pack := []byte(b.String()); gitSHA(pack) != w.at.pack {
		changed[packFile] = pack
	}
	return nil
}
