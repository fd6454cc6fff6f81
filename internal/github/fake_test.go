package github

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// fake is a GitHub with one repository, o/r. It keeps what it is told and
// answers as GitHub does, with 409 and 422 where that refuses.
type fake struct {
	t   testing.TB
	mu  sync.Mutex
	url string

	login    string          // whose token it is, empty: a job's
	viewer   string          // who an app's token is
	denied   map[string]int  // status by the first part of a path below the repository
	rejects  map[string]bool // methods and paths that are always a 422
	limited  int             // requests that are asked to wait
	broken   int             // requests that fail on the way
	requests []string

	comments  []map[string]any
	checks    []map[string]any
	statuses  []map[string]any
	pulls     []map[string]any
	parents   map[string][]string // of commits that are not in git
	mergeBase map[string]string

	blobs   map[string][]byte
	trees   map[string]map[string]string // path to blob
	commits map[string]fakeCommit
	refs    map[string]string
	empty   bool // the repository has no commit

	conflicts int
}

type fakeCommit struct {
	tree, message string
	parents       []string
}

func newFake(t testing.TB) *fake {
	f := &fake{
		t: t, denied: map[string]int{}, rejects: map[string]bool{}, parents: map[string][]string{}, mergeBase: map[string]string{},
		blobs: map[string][]byte{}, trees: map[string]map[string]string{}, commits: map[string]fakeCommit{}, refs: map[string]string{},
	}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	f.url = server.URL
	return f
}

func (f *fake) context() *Context {
	return &Context{Owner: "o", Repo: "r", APIURL: f.url, ServerURL: "https://github.com", Event: "pull_request", HeadRepo: "o/r"}
}

// api is an API of the fake that waits for nothing.
func (f *fake) api() *API {
	a, err := NewAPI(f.context(), "secret")
	if err != nil {
		f.t.Fatal(err)
	}
	a.pause = time.Millisecond
	quick(a).pause = time.Millisecond
	return a
}

func quick(a *API) *transport { return a.client.Client().Transport.(*transport) }

func (f *fake) count(prefix string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, r := range f.requests {
		if strings.HasPrefix(r, prefix) {
			n++
		}
	}
	return n
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests = append(f.requests, r.Method+" "+r.URL.Path)
	if r.Header.Get("Authorization") != "Bearer secret" {
		answer(w, 401, map[string]any{"message": "Bad credentials"})
		return
	}
	switch {
	case f.broken > 0:
		f.broken--
		answer(w, 502, map[string]any{"message": "Server Error"})
		return
	case f.limited > 0:
		f.limited--
		w.Header().Set("Retry-After", "0")
		answer(w, 403, map[string]any{"message": "You have exceeded a secondary rate limit.", "documentation_url": "https://docs.github.com/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits"})
		return
	}
	var body map[string]any
	if r.Body != nil {
		_ = json.NewDecoder(r.Body).Decode(&body)
	}
	status, result := f.handle(r, body)
	if next := r.URL.Query().Get("page"); status == 200 && next != "" {
		result = f.page(w, r, result)
	}
	answer(w, status, result)
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if status != 204 {
		_ = json.NewEncoder(w).Encode(v)
	}
}

// page is a part of a list, with a link to the next.
func (f *fake) page(w http.ResponseWriter, r *http.Request, all any) any {
	list, ok := all.([]map[string]any)
	if !ok {
		return all
	}
	n, _ := strconv.Atoi(r.URL.Query().Get("page"))
	per, _ := strconv.Atoi(r.URL.Query().Get("per_page"))
	if from := min((n-1)*per, len(list)); from+per < len(list) {
		q := r.URL.Query()
		q.Set("page", strconv.Itoa(n+1))
		w.Header().Set("Link", fmt.Sprintf(`<%s%s?%s>; rel="next"`, f.url, r.URL.Path, q.Encode()))
		return list[from : from+per]
	} else {
		return list[from:]
	}
}

func (f *fake) handle(r *http.Request, body map[string]any) (int, any) {
	if r.URL.Path == "/user" {
		if f.login == "" {
			return 403, map[string]any{"message": "Resource not accessible by integration"}
		}
		return 200, map[string]any{"login": f.login}
	}
	if r.URL.Path == "/graphql" {
		if f.viewer == "" {
			return 404, map[string]any{"message": "Not Found"}
		}
		return 200, map[string]any{"data": map[string]any{"viewer": map[string]any{"login": f.viewer}}}
	}
	path, ok := strings.CutPrefix(r.URL.Path, "/repos/o/r/")
	if !ok {
		return 404, map[string]any{"message": "Not Found"}
	}
	parts := strings.Split(path, "/")
	if status := f.denied[parts[0]]; status != 0 && r.Method != "GET" {
		return status, map[string]any{"message": "Resource not accessible by integration"}
	}
	if f.rejects[r.Method+" "+path] {
		return 422, map[string]any{"message": "Repository rule violations found"}
	}
	switch parts[0] {
	case "issues":
		return f.comment(r.Method, parts, body)
	case "check-runs":
		return f.check(r.Method, parts, body)
	case "statuses":
		f.statuses = append(f.statuses, body)
		return 201, body
	case "pulls":
		if len(parts) == 1 {
			return 200, f.pulls
		}
		for _, p := range f.pulls {
			if fmt.Sprint(p["number"]) == parts[1] {
				return 200, p
			}
		}
	case "compare":
		if base, ok := f.mergeBase[parts[1]]; ok {
			return 200, map[string]any{"merge_base_commit": map[string]any{"sha": base}}
		}
	case "commits":
		var list []map[string]any
		for sha := r.URL.Query().Get("sha"); sha != ""; {
			list = append(list, map[string]any{"sha": sha})
			next := f.parents[sha]
			if sha = ""; len(next) > 0 {
				sha = next[0]
			}
		}
		return 200, list
	case "git":
		return f.git(r, parts[1:], body)
	}
	return 404, map[string]any{"message": "Not Found"}
}

func (f *fake) comment(method string, parts []string, body map[string]any) (int, any) {
	author := f.login
	if author == "" {
		author = f.viewer
	}
	if author == "" {
		author = actionsBot
	}
	if method == "GET" {
		return 200, f.comments
	}
	if parts[1] != "comments" {
		if len(body["body"].(string)) > MaxComment {
			return 422, map[string]any{"message": "Body is too long (maximum is 65536 characters)"}
		}
		return 201, f.addComment(author, body["body"].(string))
	}
	for i, c := range f.comments {
		if fmt.Sprint(c["id"]) != parts[2] {
			continue
		}
		if method == "DELETE" {
			f.comments = slices.Delete(f.comments, i, i+1)
			return 204, nil
		}
		c["body"] = body["body"]
		return 200, c
	}
	return 404, map[string]any{"message": "Not Found"}
}

func (f *fake) addComment(author, body string) map[string]any {
	c := map[string]any{
		"id": len(f.comments) + 1000, "body": body, "user": map[string]any{"login": author},
		"html_url": fmt.Sprintf("https://github.com/o/r/pull/7#issuecomment-%d", len(f.comments)),
	}
	f.comments = append(f.comments, c)
	return c
}

func (f *fake) check(method string, parts []string, body map[string]any) (int, any) {
	output := body["output"].(map[string]any)
	annotations, _ := output["annotations"].([]any)
	if len(annotations) > 50 || len(output["summary"].(string)) > MaxCheckSummary {
		return 422, map[string]any{"message": "Invalid request."}
	}
	for _, a := range annotations {
		if strings.Contains(a.(map[string]any)["path"].(string), "refuse") {
			return 422, map[string]any{"message": "Invalid path."}
		}
	}
	if method == "PATCH" {
		run := f.checks[len(f.checks)-1]
		run["all"] = append(run["all"].([]any), annotations...)
		return 200, run
	}
	body["id"], body["html_url"], body["all"] = 9, "https://github.com/o/r/runs/9", annotations
	f.checks = append(f.checks, body)
	return 201, body
}
