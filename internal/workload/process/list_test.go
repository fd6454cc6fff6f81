package process

import "testing"

func TestParseStat(t *testing.T) {
	for text, want := range map[string]Stat{
		"1 (init) S 0 1 1 0 -1":         {'S', 0, 1},
		"42 (a) Z 9 9 (b)) R 7 8 8 0\n": {'R', 7, 8},
	} {
		if got, err := parseStat([]byte(text)); err != nil || got != want {
			t.Errorf("%q: got %+v, error %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "1 (init)", "1 (init) S x 1"} {
		if _, err := parseStat([]byte(text)); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}
