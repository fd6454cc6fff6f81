package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/arch/x86/x86asm"

	"github.com/org/ebpf-bench-action/internal/profile"
	"github.com/org/ebpf-bench-action/internal/profile/firefox"
	"github.com/org/ebpf-bench-action/internal/symbol"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

// measured is a function with samples.
//
//go:noinline
func measured(n int) (sum int) {
	for i := range n {
		sum += i * i
	}
	return sum
}

// sampled returns a profile of this process, in the function measured and in the kernel.
func sampled(t testing.TB) (*profile.Profile, *profile.Location) {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := symbol.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	at := uint64(reflect.ValueOf(measured).Pointer())
	start, end, ok := b.Extent(at)
	if !ok || start != at || end <= start {
		t.Fatalf("measured is from 0x%x to 0x%x, at 0x%x", start, end, at)
	}
	l := &profile.Location{Module: path, BuildID: b.BuildID(), Origin: b.Origin(), Address: at, Start: start, End: end, Frames: b.Frames(at)}
	kernel := &profile.Location{Module: "[kernel]", Kernel: true, Address: 0xffffffff81000000, Frames: []profile.Frame{{Func: "schedule"}}}
	thread := &profile.Thread{PID: 1, TID: 1, Name: "test", Process: "test"}
	sample := profile.Sample{Kind: profile.CPU, Thread: thread, Took: time.Second, Stack: &profile.Stack{Locations: []*profile.Location{l}}}
	other := profile.Sample{Kind: profile.CPU, Thread: thread, Took: time.Second, Stack: &profile.Stack{Locations: []*profile.Location{kernel, l}}}
	return &profile.Profile{
		Command: []string{"test"}, Start: time.Now(), Duration: time.Second, Frequency: 100, Sources: map[profile.Kind]string{profile.CPU: "cpu-clock"},
		Threads: []*profile.Thread{thread}, Samples: []profile.Sample{sample, other},
	}, l
}

// Pages of pprof that write files, or open others than were recorded, are gone.
func TestPagesThatWrite(t *testing.T) {
	p, _ := sampled(t)
	s := run(t, p)
	for _, path := range []string{"/saveconfig?config=a&f=b", "/deleteconfig?config=a"} {
		if status, _, _ := get(t, "GET", s.URL+path, ""); status != http.StatusNotFound {
			t.Errorf("%s: status %d", path, status)
		}
	}
	config := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "pprof", "settings.json")
	if _, err := os.Stat(config); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s: %v", config, err)
	}
}

// Other users can connect, but keep no connection, and so no memory and no file, for long.
func TestConnectionsEnd(t *testing.T) {
	p, _ := sampled(t)
	const short = 100 * time.Millisecond
	s := runWith(t, p, short)
	address := s.listener.Addr().String()
	for name, sent := range map[string]string{
		"nothing":        "",
		"half a request": "GET / HTTP/1.1\r\nHost: x\r\n",
		"half a body":    "POST /asm/v1 HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{",
		"no secret":      "GET / HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\n\r\n",
		"the secret":     "GET " + strings.TrimPrefix(s.URL, "http://"+address) + "/profile.json.gz HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\n\r\n",
	} {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		// Much longer than the server waits: a test that hangs here failed.
		if err := c.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, sent); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: the connection was kept", name)
		}
	}
}

func run(t testing.TB, p *profile.Profile) *Server { return runWith(t, p, patience) }

// runWith serves a profile until the test ends, and checks that it then ends without an error.
func runWith(t testing.TB, p *profile.Profile, patience time.Duration) *Server {
	t.Helper()
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(l, p)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.run(ctx, patience) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("it ended with %v", err)
		}
		if _, err := net.Dial("tcp", l.Addr().String()); err == nil {
			t.Error("it still listens")
		}
	})
	return s
}

func get(t testing.TB, method, address, body string) (int, http.Header, string) {
	t.Helper()
	r, err := http.NewRequest(method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, answer.Header, string(text)
}

// The pages of pprof are there, with its disassembly of a function; without the secret,
// nothing is.
func TestPages(t *testing.T) {
	p, _ := sampled(t)
	s := run(t, p)
	for path, want := range map[string]string{
		"/": "serve.measured", "/flamegraph": "serve.measured", "/top": "serve.measured", "/peek?f=measured": "serve.measured",
		"/disasm?f=measured": "ROUTINE ======================== github.com/org/ebpf-bench-action/internal/profile/serve.measured",
		"/source?f=measured": "profiler.firefox.com/from-url/",
	} {
		status, header, text := get(t, "GET", s.URL+path, "")
		if status != http.StatusOK || !strings.Contains(text, want) {
			t.Errorf("%s: status %d, without %q", path, status, want)
		}
		if header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: other pages can read it", path)
		}
	}
	host := s.URL[:strings.LastIndexByte(s.URL, '/')]
	for _, address := range []string{host, host + "/", host + "/flamegraph", host + "/asm/v1", s.URL + "x/flamegraph", s.URL + "/nothing", s.URL + "/asm/v1/../v2"} {
		if status, header, _ := get(t, "GET", address, ""); status/100 != 4 || header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: status %d", address, status)
		}
	}
}

// request asks for the code of a location as the Firefox Profiler does.
func request(l *profile.Location, size string) string {
	return fmt.Sprintf(`{"debugName":%q,"debugId":%q,"codeId":%q,"startAddress":"0x%x","size":%q,"continueUntilFunctionEnd":false}`,
		l.Base(), firefox.BreakpadID(l.BuildID), l.BuildID, l.Start, size)
}

// The instructions of a function are those that x86asm decodes from memory.
func TestAsm(t *testing.T) {
	p, l := sampled(t)
	s := run(t, p)
	size := fmt.Sprintf("0x%x", l.End-l.Start)
	status, header, text := get(t, "POST", s.URL+"/asm/v1", request(l, size))
	if status != http.StatusOK || header.Get("Access-Control-Allow-Origin") != "*" || header.Get("Content-Type") != "application/json" {
		t.Fatalf("status %d, %v: %s", status, header, text)
	}
	var got struct {
		StartAddress, Size, Arch string
		Instructions             [][2]any
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if got.StartAddress != fmt.Sprintf("0x%x", l.Start) || got.Size != size || len(got.Instructions) < 5 {
		t.Fatalf("got %s", text)
	}
	if got.Arch != "x86_64" {
		return // the rest is of x86
	}
	code, err := mustModule(t, s, l).binary.Code(l.Start, l.End)
	if err != nil {
		t.Fatal(err)
	}
	for at, i := 0, 0; at < len(code); i++ {
		in, err := x86asm.Decode(code[at:], 64)
		if err != nil {
			t.Fatal(err)
		}
		want := x86asm.GNUSyntax(in, l.Start+uint64(at), nil)
		if i >= len(got.Instructions) || got.Instructions[i][0] != float64(at) || got.Instructions[i][1] != want && !strings.HasPrefix(want, "call") {
			t.Fatalf("instruction %d: got %v, want %d %s", i, got.Instructions[i:], at, want)
		}
		at += in.Len
	}
	// Without a known size the function is asked for to its end.
	if _, _, all := get(t, "POST", s.URL+"/asm/v1", strings.Replace(request(l, "0x1"), "false", "true", 1)); all != text {
		t.Errorf("to the end: %s", all)
	}
}

func mustModule(t *testing.T, s *Server, l *profile.Location) *module {
	t.Helper()
	m := s.at(l.Module)
	if m == nil {
		t.Fatalf("there is no module %s", l.Module)
	}
	if _, err := m.open(); err != nil {
		t.Fatal(err)
	}
	return m
}

// What is wrong is an answer with an error, and no file is read that is not in the profile.
func TestAsmErrors(t *testing.T) {
	p, l := sampled(t)
	s := run(t, p)
	good := request(l, "0x10")
	id := firefox.BreakpadID(l.BuildID)
	for body, want := range map[string]string{
		"": "the request is malformed: EOF", "{": "the request is malformed", "[]": "the request is malformed", "null": "the profile has no file",
		`{"startAddress":"12"}`:           "is not a number as",
		`{"startAddress":12}`:             "the request is malformed",
		`{"size":"0x11111111111111111"}`:  "is not a number as",
		strings.Replace(good, id, "0", 1): "", // the build ID is enough
		strings.Replace(strings.Replace(good, id, "AB", 1), l.BuildID, "cd", 1):                                        "the profile has no file",
		`{"debugName":"/etc/passwd","debugId":"000000000000000000000000000000000","startAddress":"0x0","size":"0x10"}`: "the profile has no file",
		`{"debugName":"[kernel]","debugId":"000000000000000000000000000000000","startAddress":"0x0","size":"0x10"}`:    "[kernel] is not a file",
		strings.Replace(good, `"0x10"`, `"0x0"`, 1):                                                                    "the function has no known size",
		strings.Replace(good, fmt.Sprintf("0x%x", l.Start), "0xfffffffffffffff0", 1):                                   "there is no code at 0xfffffffffffffff0",
		strings.Replace(good, fmt.Sprintf("0x%x", l.Start), "0x1", 1):                                                  "there is no code at 0x1",
		strings.Repeat(" ", maxRequest) + good:                                                                         "request body too large",
	} {
		status, _, text := get(t, "POST", s.URL+"/asm/v1", body)
		var answer struct{ Error string }
		if err := json.Unmarshal([]byte(text), &answer); err != nil || status != http.StatusOK {
			t.Errorf("%.80s: status %d: %s", body, status, text)
		}
		if want == "" && answer.Error != "" || !strings.Contains(answer.Error, want) {
			t.Errorf("%.80s: got %q, want %q", body, answer.Error, want)
		}
	}
}

// A huge size is cut to what is disassembled at once.
func TestAsmIsBounded(t *testing.T) {
	p, l := sampled(t)
	s := run(t, p)
	for _, size := range []string{"0x7fffffff", "0xffffffffffffffff"} {
		_, _, text := get(t, "POST", s.URL+"/asm/v1", request(l, size))
		var got struct {
			Size         string
			Instructions []any
		}
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatal(err)
		}
		read, err := strconv.ParseUint(got.Size, 0, 64)
		if err != nil || read == 0 || read > maxCode || len(got.Instructions) == 0 || len(got.Instructions) > maxCode {
			t.Errorf("size %s: %d instructions of %s bytes, %v", size, len(got.Instructions), got.Size, err)
		}
	}
}

func TestConcurrentRequests(t *testing.T) {
	p, l := sampled(t)
	s := run(t, p)
	body := request(l, fmt.Sprintf("0x%x", l.End-l.Start))
	_, _, want := get(t, "POST", s.URL+"/asm/v1", body)
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			if _, _, got := get(t, "POST", s.URL+"/asm/v1", body); got != want {
				t.Errorf("got %s", got)
			}
			if status, _, _ := get(t, "GET", s.URL+[]string{"/top", "/flamegraph", "/disasm?f=measured", "/profile.json.gz"}[i%4], ""); status != http.StatusOK {
				t.Errorf("status %d", status)
			}
		})
	}
	all.Wait()
}

// A file that is another one than was recorded is not disassembled. The page with other files'
// code says so.
func TestChangedFiles(t *testing.T) {
	p, l := sampled(t)
	l.BuildID = "00" + l.BuildID
	s := run(t, p)
	const want = "is not the file that was recorded"
	if _, _, text := get(t, "POST", s.URL+"/asm/v1", request(l, "0x10")); !strings.Contains(text, want) {
		t.Errorf("got %s", text)
	}
	if status, _, text := get(t, "GET", s.URL+"/disasm?f=measured", ""); status != http.StatusOK || !strings.Contains(text, want) {
		t.Errorf("status %d: %.500s", status, text)
	}
}

// A file without a build ID is taken for the recorded one as long as nothing was done to it, and
// the time of its content says nothing of that.
func TestFilesWithoutABuildID(t *testing.T) {
	testenv.Tools(t, "objcopy")
	p, l := sampled(t)
	path := filepath.Join(t.TempDir(), "agent")
	if out, err := exec.Command("objcopy", "--remove-section=.note.gnu.build-id", l.Module, path).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	l.Module, l.BuildID, p.Start = path, "", time.Now().Add(time.Second)
	if _, _, text := get(t, "POST", run(t, p).URL+"/asm/v1", request(l, "0x10")); !strings.Contains(text, "instructions") {
		t.Errorf("got %s", text)
	}
	p.Start = time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, time.Time{}, p.Start.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, _, text := get(t, "POST", run(t, p).URL+"/asm/v1", request(l, "0x10")); !strings.Contains(text, "was changed since it was recorded") {
		t.Errorf("got %s", text)
	}
}

// A file that the owner of the recorded one may not read is not disassembled, even by a link, nor
// is one of another owner in its place.
func TestFilesOfOthers(t *testing.T) {
	testenv.Root(t)
	const user = 54321
	p, l := sampled(t)
	code, err := os.ReadFile(l.Module)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"secret", "own", "users"} {
		testenv.Write(t, path(name), code)
	}
	if err := errors.Join(
		os.Chmod(path("secret"), 0o600), os.Chown(path("users"), user, user), os.Mkdir(path("folder"), 0o755), os.Chown(path("folder"), user, user),
		os.Symlink(path("secret"), path("folder/link")),
	); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"secret": "instructions", "own": "instructions", "users": "its owner is another", "folder/link": "permission denied",
	} {
		l.Module = path(name)
		if _, _, text := get(t, "POST", run(t, p).URL+"/asm/v1", request(l, "0x10")); !strings.Contains(text, want) {
			t.Errorf("%s: without %q: %.200s", name, want, text)
		}
	}
}

// The viewer is given the profile, and the server without a path, to which it adds that of the
// API; its preflight requests are answered.
func TestViewer(t *testing.T) {
	p, _ := sampled(t)
	s := run(t, p)
	u, err := url.Parse(s.Viewer)
	if err != nil {
		t.Fatal(err)
	}
	if u.Query().Get("symbolServer") != s.URL {
		t.Errorf("symbol server %s", u.Query().Get("symbolServer"))
	}
	from, _, _ := strings.Cut(strings.TrimPrefix(u.EscapedPath(), "/from-url/"), "/")
	if from, err = url.QueryUnescape(from); err != nil {
		t.Fatal(err)
	}
	status, header, text := get(t, "GET", from, "")
	var want bytes.Buffer
	if err := firefox.Write(&want, p, firefox.Options{Source: firefox.ReadSource}); err != nil {
		t.Fatal(err)
	}
	if status != http.StatusOK || header.Get("Access-Control-Allow-Origin") != "*" || text != want.String() {
		t.Errorf("%s: status %d, %v", from, status, header)
	}
	for _, path := range []string{"/asm/v1", "/profile.json.gz"} {
		status, header, _ := get(t, "OPTIONS", s.URL+path, "")
		if status != http.StatusNoContent || header.Get("Access-Control-Allow-Origin") != "*" || !strings.Contains(header.Get("Access-Control-Allow-Methods"), "POST") {
			t.Errorf("%s: status %d, %v", path, status, header)
		}
	}
}

func TestListen(t *testing.T) {
	for address, want := range map[string]string{
		"127.0.0.1:0": "", "localhost:0": "", "127.9.9.9:0": "",
		"0.0.0.0:0": "0.0.0.0:0 is not on the loopback interface", ":0": ":0 is not on the loopback interface", "[::]:0": "is not on the loopback interface",
		"192.0.2.1:80": "is not on the loopback interface", "example.org:80": "is not on the loopback interface",
		"127.0.0.1": "127.0.0.1 is not an address and a port", "8080": "8080 is not an address and a port", "127.0.0.1:99999": "invalid port",
	} {
		l, err := Listen(address)
		if err == nil {
			if host, _, _ := net.SplitHostPort(l.Addr().String()); !net.ParseIP(host).IsLoopback() {
				t.Errorf("%s: it listens on %s", address, host)
			}
			err = l.Close()
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", address, err, want)
		}
	}
}

// Instructions begin where objdump finds them, those with vectors too, in a library that has
// many of them.
func TestInstructionsBeginWhereTheyDo(t *testing.T) {
	testenv.Plain(t)
	testenv.Tools(t, "objdump")
	libraries, _ := filepath.Glob("/lib/*-linux-gnu/libc.so.6")
	if len(libraries) == 0 {
		testenv.Missing(t, "a C library")
	}
	b, err := symbol.Open(libraries[0])
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	out, err := exec.Command("objdump", "-d", "-w", "-j", ".text", "--no-show-raw-insn", libraries[0]).Output()
	if err != nil {
		t.Fatal(err)
	}
	var addresses []uint64
	text := map[uint64]string{}
	for _, m := range regexp.MustCompile(`(?m)^ +([0-9a-f]+):\t(.*)$`).FindAllSubmatch(out, -1) {
		at, err := strconv.ParseUint(string(m[1]), 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		addresses = append(addresses, at)
		text[at] = string(m[2])
	}
	start, end := addresses[0], addresses[len(addresses)-1]
	code, err := b.Code(start, end)
	if err != nil {
		t.Fatal(err)
	}
	got := architectures[b.Machine()].disassemble(code, start, func(uint64) (string, uint64) { return "", 0 })
	found := map[uint64]bool{}
	for _, in := range got {
		found[start+uint64(in.offset)] = true
	}
	wrong := 0
	for _, at := range addresses[:len(addresses)-1] {
		if !found[at] {
			if wrong++; wrong <= 20 {
				t.Logf("0x%x: %s", at, text[at])
			}
		}
	}
	if len(addresses) < 10_000 || wrong > 0 {
		t.Errorf("%d of %d instructions are not found", wrong, len(addresses))
	}
}
