package bench

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Shard is one of several parts of a suite that are measured apart. It writes and
// reads as text, such as 2/8: the second of eight.
type Shard struct {
	// Part counts from 1 on.
	Part, Of int
}

// maxShards bounds how many parts there may be: no matrix of jobs has more.
const maxShards = 1000

// ParseShard reads a shard as it is written.
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

// shardNumber is -1 of what is written otherwise than numbers are.
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

// Shards are several of the parts of a suite.
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

// Are says what the shards are: shard 2/8 is missing.
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

// Has reports whether the benchmark at an index of the suite is in this part. Each
// is in exactly one; of any two parts neither has more than one benchmark more.
func (s Shard) Has(index int) bool { return index%s.Of == s.Part-1 }

// PartOf are the elements that are in a shard, all for nil.
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

// Index is the place in the suite of what has the nth place in this part.
func (s Shard) Index(nth int) int { return nth*s.Of + s.Part - 1 }
