package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// asmRequest asks for the instructions of a function. This is /asm/v1 of the API of symbol
// servers, which the Firefox Profiler uses: github.com/mstange/samply, API.md.
type asmRequest struct {
	CodeID    string      `json:"codeId"`
	DebugName string      `json:"debugName"`
	DebugID   string      `json:"debugId"`
	Start     hexadecimal `json:"startAddress"`
	Size      hexadecimal `json:"size"`
	// ToEnd asks for more than Size, if the function is longer.
	ToEnd bool `json:"continueUntilFunctionEnd"`
}

type asmAnswer struct {
	Start        hexadecimal `json:"startAddress"`
	Size         hexadecimal `json:"size"`
	Arch         string      `json:"arch"`
	Syntax       []string    `json:"syntax"`
	Instructions [][2]any    `json:"instructions"` // offset, text
}

// hexadecimal is a number as "0x1f".
type hexadecimal uint64

func (h hexadecimal) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, `"0x%x"`, uint64(h)), nil }

func (h *hexadecimal) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	digits, ok := strings.CutPrefix(text, "0x")
	n, err := strconv.ParseUint(digits, 16, 64)
	if !ok || err != nil {
		return fmt.Errorf("%q is not a number as \"0x1f\"", text)
	}
	*h = hexadecimal(n)
	return nil
}

// maxRequest bounds a request, in bytes.
const maxRequest = 64 << 10

// asm answers a request, an error as {"error": "..."}: the viewer shows its text if the status
// is 200.
func (s *Server) asm(w http.ResponseWriter, r *http.Request) {
	answer, err := s.answerAsm(http.MaxBytesReader(w, r.Body, maxRequest))
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		answer = map[string]string{"error": err.Error()}
	}
	_ = json.NewEncoder(w).Encode(answer) // whoever asked may be gone
}

func (s *Server) answerAsm(body io.Reader) (any, error) {
	var r asmRequest
	if err := json.NewDecoder(body).Decode(&r); err != nil {
		return nil, fmt.Errorf("the request is malformed: %w", err)
	}
	m := s.find(&r)
	if m == nil {
		return nil, fmt.Errorf("the profile has no file %q with the identifier %q", r.DebugName, r.DebugID)
	}
	start, size := uint64(r.Start), uint64(r.Size)
	if r.ToEnd {
		if b, err := m.open(); err == nil {
			if _, end, ok := b.Extent(start); ok {
				size = max(size, end-start)
			}
		}
	}
	if size == 0 {
		return nil, errors.New("the function has no known size")
	}
	all, arch, read, err := m.disassemble(start, start+min(size, maxCode))
	if err != nil {
		return nil, err
	}
	out := asmAnswer{Start: r.Start, Size: hexadecimal(read), Arch: arch.name, Syntax: []string{"GNU"}, Instructions: [][2]any{}}
	for _, in := range all {
		out.Instructions = append(out.Instructions, [2]any{in.offset, in.text})
	}
	return out, nil
}

// find returns the module that a request means, or nil.
func (s *Server) find(r *asmRequest) *module {
	for _, m := range s.modules {
		if strings.EqualFold(r.DebugID, m.debugID) && r.DebugName == m.base || m.buildID != "" && r.CodeID == m.buildID {
			return m
		}
	}
	return nil
}
