package suite

import (
	"slices"
	"strings"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/strictyaml"
)

// checker collects what is wrong with a part of a document. It implements bench.Checker.
type checker struct {
	doc *strictyaml.Doc
	// at is the path of mapping keys and sequence indices to the part.
	at   []any
	errs *[]error
}

func newChecker(doc *strictyaml.Doc) *checker { return &checker{doc: doc, errs: new([]error)} }

func (c *checker) under(at ...any) *checker {
	return &checker{c.doc, append(slices.Clone(c.at), at...), c.errs}
}

func (c *checker) Under(at ...any) bench.Checker { return c.under(at...) }

func (c *checker) Errorf(format string, args ...any) {
	*c.errs = append(*c.errs, c.doc.Errorf(c.at, format, args...))
}

func (c *checker) Has(key string) bool { return c.doc.Has(c.under(key).at...) }

func (c *checker) Null(key string) bool { return c.doc.Null(c.under(key).at...) }

func (c *checker) Count(key string, n, limit int) {
	if n < 0 || n > limit || n == 0 && c.Has(key) {
		c.Under(key).Errorf("%s must be from 1 to %d", key, limit)
	}
}

// Duration checks that a duration is no longer than a whole number of hours.
func (c *checker) Duration(key string, d bench.Duration, limit time.Duration) {
	if d < 0 || d > bench.Duration(limit) || d == 0 && c.Has(key) {
		c.Under(key).Errorf("%s must be more than 0 and at most %gh", key, limit.Hours())
	}
}

func (c *checker) Packets(key string, packets []bench.Packet) {
	if len(packets) == 0 && c.Has(key) {
		c.Under(key).Errorf("packets is an empty list: leave it out for the default packet")
	}
}

func (c *checker) OneOf(key, got string, want ...string) {
	if got != "" && !slices.Contains(want, got) {
		c.Under(key).Errorf("%s %q is not known: it is one of %s", key, got, strings.Join(want, ", "))
	}
}
