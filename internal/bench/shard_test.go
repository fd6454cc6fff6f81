package bench

import (
	"bytes"
	"strings"
	"testing"
)

func TestParseShard(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"1/1", ""}, {"2/8", ""}, {"8/8", ""}, {"1000/1000", ""},
		{"", "such as 2/8"}, {"2", "such as 2/8"}, {"2/", "such as 2/8"}, {"/8", "such as 2/8"}, {"2/8/9", "such as 2/8"},
		{"a/b", "such as 2/8"}, {"-1/8", "such as 2/8"}, {"+1/8", "such as 2/8"}, {"02/8", "such as 2/8"}, {" 2/8", "such as 2/8"},
		{"1/99999999999999999999", "such as 2/8"},
		{"0/8", "from 1 on"}, {"0/0", "from 1 on"}, {"9/8", "the last one is 8/8"}, {"1/0", "no part 1 of 0"}, {"1/1001", "more than 1000"},
	} {
		s, err := ParseShard(c.text)
		switch {
		case c.want == "" && (err != nil || s.String() != c.text):
			t.Errorf("%q: %v, %v", c.text, s, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%q: %v, %v, want %q", c.text, s, err, c.want)
		}
	}
}

// However many parts there are, each benchmark is in exactly one, and they are as equal as
// they can be.
func TestShardsPartition(t *testing.T) {
	for n := range 30 {
		for of := 1; of < 12; of++ {
			in, least, most := make([]int, n), n, 0
			for part := 1; part <= of; part++ {
				s, size := Shard{part, of}, 0
				for i := range n {
					if s.Has(i) {
						if s.Index(size) != i {
							t.Errorf("%v: its number %d is %d, want %d", s, size, s.Index(size), i)
						}
						in[i]++
						size++
					}
				}
				least, most = min(least, size), max(most, size)
			}
			for i, shards := range in {
				if shards != 1 {
					t.Errorf("benchmark %d of %d is in %d of %d shards", i, n, shards, of)
				}
			}
			if most-least > 1 {
				t.Errorf("%d benchmarks in %d shards: from %d to %d", n, of, least, most)
			}
		}
	}
}

func TestShardInJSON(t *testing.T) {
	run := sampleRun()
	run.Shard = &Shard{2, 8}
	var b bytes.Buffer
	err := EncodeRuns(&b, run)
	text := b.String()
	if err != nil || !strings.Contains(text, `"shard":"2/8"`) {
		t.Errorf("%s, %v", text, err)
	}
	if _, err := DecodeRun(strings.NewReader(strings.Replace(text, "2/8", "9/8", 1))); err == nil || !strings.Contains(err.Error(), "no part 9 of 8") {
		t.Errorf("decoded with %v", err)
	}
}
