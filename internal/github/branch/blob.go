package branch

import (
	"context"
	"crypto/sha1"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"

	gh "github.com/google/go-github/v53/github"

	"github.com/org/ebpf-bench-action/internal/github"
)

// atOnce is how many requests one job makes concurrently.
const atOnce = 8

// blobs downloads blobs and passes each to take, one at a time.
func (b *Store) blobs(ctx context.Context, at *snapshot, shas []string, take func(sha string, data []byte) error) error {
	if len(shas) == 0 {
		return nil
	}
	b.unpack(ctx, at)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		all   sync.WaitGroup
		mu    sync.Mutex
		slots = make(chan struct{}, atOnce)
	)
	for _, sha := range shas {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		all.Go(func() {
			defer func() { <-slots }()
			data, err := b.blob(ctx, sha)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				err = take(sha, data)
			}
			if err != nil {
				cancel(err)
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

// blob returns the content of a blob.
func (b *Store) blob(ctx context.Context, sha string) ([]byte, error) {
	if data, ok := b.small.get(sha); ok {
		return data, nil
	}
	blob, _, err := b.api.Client.Git.GetBlob(ctx, b.api.Owner, b.api.Repo, sha)
	if err != nil {
		return nil, fmt.Errorf("read blob %.12s: %w", sha, err)
	}
	data := []byte(blob.GetContent())
	if blob.GetEncoding() == "base64" {
		if data, err = base64.StdEncoding.DecodeString(strings.ReplaceAll(blob.GetContent(), "\n", "")); err != nil {
			return nil, fmt.Errorf("read blob %.12s: %w", sha, err)
		}
	}
	if gitSHA(data) != sha {
		return nil, fmt.Errorf("read blob %.12s: the content received is a different one", sha)
	}
	b.small.put(sha, data)
	return data, nil
}

// upload creates a blob, unless it was uploaded before.
func (b *Store) upload(ctx context.Context, data []byte, uploaded map[string]bool) (string, error) {
	sha := gitSHA(data)
	if uploaded[sha] {
		return sha, nil
	}
	blob, _, err := b.api.Client.Git.CreateBlob(ctx, b.api.Owner, b.api.Repo, &gh.Blob{
		Content:  gh.String(base64.StdEncoding.EncodeToString(data)),
		Encoding: gh.String("base64"),
	})
	if err != nil {
		return "", github.ErrorOf("upload a file of the baseline", err)
	}
	if blob.GetSHA() != sha {
		return "", fmt.Errorf("upload a file of the baseline: GitHub has another, %.40q", blob.GetSHA())
	}
	uploaded[sha] = true
	b.small.put(sha, data)
	return sha, nil
}

// gitSHA returns the name by which git knows a file's content.
func gitSHA(data []byte) string {
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", len(data))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}
