package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/testenv"
)

const (
	owner, repo = "octo", "scratch"
	token       = "token-of-the-job"
	bot         = "octo"
)

// github is an emulated GitHub behind a proxy, which knows what the emulation does not:
// where a pull request's head is after a push, and what a read-only token must not do.
type github struct {
	t testing.TB
	// URL is the proxy, and direct the emulation, which allows everything.
	URL, direct string

	// violated is called for requests that do not match GitHub's description.
	violated func(string)

	// git serves the origin of the repository, which the emulation knows nothing of.
	git http.Handler

	mu sync.Mutex
	// heads maps pull requests to their heads.
	heads map[int]head
	// readOnly refuses every request that would write.
	readOnly bool
}

type head struct{ repository, sha string }

// gitPrefix is the path that git has the repository at.
const gitPrefix = "/" + owner + "/" + repo + ".git"

var pullsPath = regexp.MustCompile(`^/repos/` + owner + `/` + repo + `/pulls(/[0-9]+)?$`)

// newGitHub starts one for a test.
func newGitHub(t testing.TB) *github {
	t.Helper()
	emulated := &url.URL{Scheme: "http", Host: emulate(t)}
	g := &github{t: t, direct: emulated.String(), heads: map[int]head{}, violated: func(what string) { t.Error(what) }}
	proxy := &httputil.ReverseProxy{
		Rewrite:        rewrite(emulated),
		ModifyResponse: g.putHeads,
	}
	if os.Getenv("EBPF_BENCH_E2E_SCHEMA") != "" {
		proxy = g.checked(proxy, emulated)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if g.refuses(r) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"message":"Resource not accessible by integration","documentation_url":"https://docs.github.com/rest"}`)
			return
		}
		if strings.HasPrefix(r.URL.Path, gitPrefix+"/") {
			g.git.ServeHTTP(w, r)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	g.URL = server.URL
	return g
}

// emulate starts the emulation, and returns its address.
func emulate(t testing.TB) string {
	t.Helper()
	port := freePort(t)
	seed := filepath.Join(t.TempDir(), "seed.yaml")
	testenv.Write(t, seed, fmt.Appendf(nil, `
tokens:
  %s: {login: %s, scopes: [repo]}
github:
  users: [{login: %s}]
  repos: [{owner: %s, name: %s, auto_init: true}]
`, token, bot, owner, owner, repo))
	return serve(t, port, "node_modules/emulate/dist/index.js", "start", "--service", "github", "--port", strconv.Itoa(port), "--seed", seed)
}

// freePort returns a port that nobody listens on.
func freePort(t testing.TB) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

// serve runs a server of Node for the test, and returns its address once it answers.
func serve(t testing.TB, port int, args ...string) string {
	t.Helper()
	var log bytes.Buffer
	cmd := exec.Command("node", args...)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop := func() {
		cmd.Process.Kill()
		cmd.Wait()
	}
	t.Cleanup(stop)
	address := fmt.Sprintf("127.0.0.1:%d", port)
	for range 1200 {
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			return address
		}
		time.Sleep(50 * time.Millisecond)
	}
	stop()
	t.Fatalf("%s did not start:\n%s", args[0], log.String())
	return ""
}

func (g *github) refuses(r *http.Request) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case strings.HasPrefix(r.URL.Path, gitPrefix):
		return g.readOnly && strings.Contains(r.URL.RequestURI(), "git-receive-pack")
	case r.Method == http.MethodGet, r.URL.Path == "/graphql":
		return false
	}
	return g.readOnly
}

// rewrite sends a request to the emulation. That knows no forks and so finds no pull
// request from one: rewrite asks it for all.
func rewrite(to *url.URL) func(*httputil.ProxyRequest) {
	return func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		if pullsPath.MatchString(r.Out.URL.Path) {
			query := r.Out.URL.Query()
			query.Del("head")
			r.Out.URL.RawQuery = query.Encode()
		}
	}
}

// putHeads sets the heads of pull requests to those of their branches.
func (g *github) putHeads(r *http.Response) error {
	if !pullsPath.MatchString(r.Request.URL.Path) || r.StatusCode != http.StatusOK || r.Request.Method != http.MethodGet {
		return nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	var pulls []map[string]any
	one := bytes.HasPrefix(body, []byte("{"))
	if one {
		body = slices.Concat([]byte("["), body, []byte("]"))
	}
	if err := json.Unmarshal(body, &pulls); err != nil {
		return err
	}
	for _, pull := range pulls {
		g.putHead(pull)
	}
	var answer any = pulls
	if one {
		answer = pulls[0]
	}
	if body, err = json.Marshal(answer); err != nil {
		return err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	r.Header.Set("Content-Length", strconv.Itoa(len(body)))
	return nil
}

func (g *github) putHead(pull map[string]any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	h, ok := g.heads[int(pull["number"].(float64))]
	if !ok {
		return
	}
	head := pull["head"].(map[string]any)
	head["sha"] = h.sha
	head["repo"].(map[string]any)["full_name"] = h.repository
}

// setReadOnly does what GitHub does to the token of a pull request from a fork.
func (g *github) setReadOnly(on bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.readOnly = on
}

func (g *github) setHead(number int, h head) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.heads[number] = h
}

// call calls the API of the repository, and reads the response.
func (g *github) call(method, path string, body, answer any) {
	g.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		g.t.Fatal(err)
	}
	req, err := http.NewRequest(method, g.direct+"/repos/"+owner+"/"+repo+path, bytes.NewReader(text))
	if err != nil {
		g.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		g.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		g.t.Fatal(err)
	}
	if resp.StatusCode >= 300 {
		g.t.Fatalf("%s %s: %s\n%s", method, path, resp.Status, data)
	}
	if answer == nil {
		return
	}
	if err := json.Unmarshal(data, answer); err != nil {
		g.t.Fatalf("%s %s: %v\n%s", method, path, err, data)
	}
}

type comment struct {
	ID   int64
	Body string
	User struct{ Login string }
}

// comments returns the comments on a pull request.
func (g *github) comments(number int) (all []comment) {
	g.t.Helper()
	g.call(http.MethodGet, fmt.Sprintf("/issues/%d/comments", number), nil, &all)
	return all
}

type checkRun struct {
	ID               int64
	Name, Conclusion string
	Output           struct {
		Title, Summary string
		Count          int `json:"annotations_count"`
	}
}

type annotation struct {
	Path    string
	Start   int    `json:"start_line"`
	Level   string `json:"annotation_level"`
	Message string
}

// checks returns the check runs of a commit.
func (g *github) checks(sha string) []checkRun {
	g.t.Helper()
	var all struct {
		Runs []checkRun `json:"check_runs"`
	}
	g.call(http.MethodGet, "/commits/"+sha+"/check-runs", nil, &all)
	return all.Runs
}

func (g *github) annotations(run checkRun) []annotation {
	g.t.Helper()
	// GitHub answers with the list alone.
	var all struct {
		List []annotation `json:"check_annotations"`
	}
	g.call(http.MethodGet, fmt.Sprintf("/check-runs/%d/annotations", run.ID), nil, &all)
	return all.List
}

// onlyComment returns the only comment on a pull request.
func (g *github) onlyComment(number int) comment {
	g.t.Helper()
	return only(g.t, fmt.Sprintf("comments of pull request %d", number), g.comments(number))
}

// onlyCheck returns the only check run of a commit.
func (g *github) onlyCheck(sha string) checkRun {
	g.t.Helper()
	return only(g.t, "check runs of commit "+sha, g.checks(sha))
}

// only returns the only element, and fails the test if there is not exactly one.
func only[T any](t testing.TB, what string, all []T) T {
	t.Helper()
	if len(all) != 1 {
		t.Fatalf("there are %d %s, want one: %+v", len(all), what, all)
	}
	return all[0]
}
