package cli

import (
	"bytes"
	"os"
	"testing"
)

func TestSameStream(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if !SameStream(w, w) || SameStream(w, os.NewFile(0, "stdin")) || SameStream(w, &bytes.Buffer{}) {
		t.Error("2>&1 is not told from two streams")
	}
}
