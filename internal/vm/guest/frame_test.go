package guest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
)

// wire returns frames as the guest sends them.
func wire(t testing.TB, frames ...Frame) []byte {
	t.Helper()
	var all []byte
	for i, f := range frames {
		f.Seq = uint64(i)
		line, err := Encode(f)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, line...)
	}
	return all
}

var exampleFrames = []Frame{
	{Type: FrameHello, Data: json.RawMessage(`{"release":"6.12"}`)},
	{Type: FrameHeartbeat},
	{Type: FrameResult, Data: json.RawMessage(`["a\nb", 18446744073709551615]`)},
	{Type: FrameExit, Data: json.RawMessage(`{"code":0}`)},
}

func TestFramesArriveAsTheyWereSent(t *testing.T) {
	r := NewReader(bytes.NewReader(wire(t, exampleFrames...)))
	for i, want := range exampleFrames {
		got, err := r.Read()
		if err != nil {
			t.Fatal(err)
		}
		var compact bytes.Buffer
		json.Compact(&compact, want.Data)
		if got.Type != want.Type || got.Seq != uint64(i) || string(got.Data) != compact.String() {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	if _, err := r.Read(); !errors.Is(err, io.EOF) {
		t.Errorf("got %v, want the end", err)
	}
}

func TestAFrameThatIsCutOffIsTheEnd(t *testing.T) {
	line := wire(t, exampleFrames[0])
	for n := range line {
		if _, err := NewReader(bytes.NewReader(line[:n])).Read(); !errors.Is(err, io.EOF) {
			t.Errorf("after %d bytes: got %v, want the end", n, err)
		}
	}
}

func TestADamagedFrameIsAnError(t *testing.T) {
	line := wire(t, exampleFrames[0])
	for i := range line {
		damaged := bytes.Clone(line)
		damaged[i] ^= 1
		// More data always follows, so the end does not excuse it.
		damaged = append(damaged, bytes.Repeat(line, 1000)...)
		f, err := NewReader(bytes.NewReader(damaged)).Read()
		if err == nil {
			t.Errorf("byte %d: got %+v", i, f)
		}
	}
}

func TestALostFrameIsNoticed(t *testing.T) {
	all := wire(t, exampleFrames...)
	first := wire(t, exampleFrames[0])
	_, err := NewReader(bytes.NewReader(all[len(first):])).Read()
	if err == nil || !strings.Contains(err.Error(), "frame 1 comes instead of frame 0") {
		t.Errorf("got %v", err)
	}
}

func TestAFrameHasABound(t *testing.T) {
	huge, err := json.Marshal(strings.Repeat("x", maxFrame))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Encode(Frame{Type: FrameResult, Data: huge}); err == nil {
		t.Error("a frame that is too long was made")
	}
	_, err = NewReader(strings.NewReader("7fffffff 00000000 {")).Read()
	if err == nil || errors.Is(err, io.EOF) {
		t.Errorf("a frame that is too long was awaited: %v", err)
	}
}

func FuzzFrameReader(f *testing.F) {
	f.Add(wire(f, exampleFrames...))
	f.Add([]byte("0000001c 93d1ab3f "))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := NewReader(bytes.NewReader(data))
		for n := uint64(0); ; n++ {
			got, err := r.Read()
			if err != nil {
				return
			}
			// A frame that was read can be sent again, and is the same then.
			line, err := Encode(got)
			if err != nil {
				t.Fatal(err)
			}
			again := NewReader(bytes.NewReader(line))
			again.next = n
			if back, err := again.Read(); err != nil || back.Type != got.Type {
				t.Fatalf("%+v came back as %+v, %v", got, back, err)
			}
		}
	})
}
