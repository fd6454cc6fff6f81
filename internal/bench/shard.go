package bench

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Shard is one of several parts of a suite that are measured separately. Its text form is
// such as 2/8: the second of eight.
type Shard struct {
	// Part counts from 1.
	Part, Of int
}

// maxShards is how many parts there may be: no matrix has more jobs.
const maxShards = 1000

// ParseShard reads the text form of a shard.
func ParseShard(text string) (Shard, error) {
	part, of, ok := strings.Cut(text, "/")
	s := Shard{shardNumber(part), shardNumber(of)}
	switch {
	case !ok || s.Part < 0 || s.Of < 0:
		return Shard{}, fmt.Errorf("%q is not a shard: it is PART/PARTS, such as 2/8", text)
	case s.Part == 0:
		return Shard{}, errors.New("the parts are counted from 1 on")
	case s.Of > maxShards:
		return Shard{}, fmt.Errorf("%d parts are more than %d", s.Of, maxShards)
	case s.Part > s.Of:
		return Shard{}, fmt.Errorf("no part %d of %d: the last one is %d/%d", s.Part, s.Of, s.Of, s.Of)
	}
	return s, nil
}

// shardNumber returns -1 for text that is not the usual form of a number.
func shardNumber(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || strconv.Itoa(n) != text {
		return -1
	}
	return n
}

func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Part, s.Of) }

// MarshalText writes the shard as ParseShard reads it.
func (s Shard) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what ParseShard reads.
func (s *Shard) UnmarshalText(text []byte) (err error) {
	*s, err = ParseShard(string(text))
	return err
}

// Shards are several parts of a suite.
type Shards []Shard

func (s Shards) String() string {
	const few = 5
	var names []string
	for _, shard := range s[:min(few, len(s))] {
		names = append(names, shard.String())
	}
	text := strings.Join(names, ", ")
	if len(s) > few {
		text += fmt.Sprintf(" and %d more", len(s)-few)
	}
	if len(s) == 1 {
		return "shard " + text
	}
	return "shards " + text
}

// Are returns a statement about the shards, such as "shard 2/8 is missing".
func (s Shards) Are(what string) string {
	if len(s) == 1 {
		return s.String() + " is " + what
	}
	return s.String() + " are " + what
}

// UnmarshalJSON reads no more shards than there can be.
func (s *Shards) UnmarshalJSON(text []byte) (err error) {
	*s, err = decodeList(text, "missing shards", maxShards, func(s *Shard) (Shard, error) {
		if s.Of == 0 {
			return Shard{}, errors.New("a missing shard has no number")
		}
		return *s, nil
	})
	return err
}

// Has reports whether the benchmark at an index of the suite is in this part. Each is in
// exactly one, and the sizes of any two parts differ by at most one.
func (s Shard) Has(index int) bool { return index%s.Of == s.Part-1 }

// PartOf returns the elements that are in a shard, or all if s is nil.
func PartOf[T any](s *Shard, all []T) []T {
	if s == nil {
		return all
	}
	part := []T{}
	for i, v := range all {
		if s.Has(i) {
			part = append(part, v)
		}
	}
	return part
}

// Index returns the index in the suite of the nth element in this part.
func (s Shard) Index(nth int) int { return nth*s.Of + s.Part - 1 }
