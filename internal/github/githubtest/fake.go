// Package githubtest provides a fake GitHub server for tests.
package githubtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Fake is a GitHub with one repository, o/r. It stores what it is sent and answers as
// GitHub does, with 422 where that refuses. Git finds the repository at URL/o/r.git. Its
// token is Token. Read its fields between requests.
type Fake struct {
	// The Mutex is for changing the fields while it serves.
	sync.Mutex
	server  *httptest.Server
	backend http.Handler
	// URL is the URL of its API, and of its repositories.
	URL string
	// Origin is the folder of the bare repository.
	Origin string

	Login    string         // whose token it is; empty: a job's
	Viewer   string         // user of an app's token
	Denied   map[string]int // status by the first part of a path below the repository
	Limited  int            // requests that get the answer to wait
	Broken   int            // requests that fail on the way
	Lost     int            // requests that are answered, but the answer is lost: of git's, only those of a push
	Requests []string

	Comments  []map[string]any
	Checks    []map[string]any
	Statuses  []map[string]any
	Pulls     []map[string]any
	Parents   map[string][]string
	MergeBase map[string]string
}

// Token is the only token that the server accepts.
const Token = "secret"

// The limits of GitHub in bytes, and the user of a job's token.
const (
	maxComment      = 65_536
	maxCheckSummary = 65_535
	actionsBot      = "github-actions[bot]"
)

// New returns a GitHub with an empty repository. Without git that has none.
func New() *Fake {
	f := &Fake{
		Denied: map[string]int{}, Parents: map[string][]string{}, MergeBase: map[string]string{},
	}
	if err := f.initGit(); err != nil {
		f.backend = http.NotFoundHandler()
	}
	f.server = httptest.NewServer(f)
	f.URL = f.server.URL
	return f
}

// Close stops the server, and removes the repository.
func (f *Fake) Close() {
	f.server.Close()
	if f.Origin != "" {
		_ = os.RemoveAll(filepath.Dir(f.Origin))
	}
}

// Count returns how many requests began with prefix, such as "POST /repos/o/r/issues".
func (f *Fake) Count(prefix string) int {
	f.Lock()
	defer f.Unlock()
	n := 0
	for _, r := range f.Requests {
		if strings.HasPrefix(r, prefix) {
			n++
		}
	}
	return n
}

// ServeHTTP implements http.Handler.
func (f *Fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, gitPrefix+"/") {
		f.git(w, r)
		return
	}
	f.Lock()
	defer f.Unlock()
	f.Requests = append(f.Requests, r.Method+" "+r.URL.Path)
	if r.Header.Get("Authorization") != "Bearer "+Token {
		answer(w, 401, map[string]any{"message": "Bad credentials"})
		return
	}
	switch {
	case f.Broken > 0:
		f.Broken--
		answer(w, 502, map[string]any{"message": "Server Error"})
		return
	case f.Limited > 0:
		f.Limited--
		w.Header().Set("Retry-After", "0")
		answer(w, 403, map[string]any{"message": "You have exceeded a secondary rate limit.", "documentation_url": "https://docs.github.com/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits"})
		return
	}
	var body map[string]any
	if r.Body != nil {
		_ = json.NewDecoder(r.Body).Decode(&body)
	}
	status, result := f.handle(r, body)
	if f.Lost > 0 {
		f.Lost--
		panic(http.ErrAbortHandler)
	}
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

// page returns a part of a list, and adds a link to the next.
func (f *Fake) page(w http.ResponseWriter, r *http.Request, all any) any {
	list, ok := all.([]map[string]any)
	if !ok {
		return all
	}
	n, _ := strconv.Atoi(r.URL.Query().Get("page"))
	per, _ := strconv.Atoi(r.URL.Query().Get("per_page"))
	if from := min((n-1)*per, len(list)); from+per < len(list) {
		q := r.URL.Query()
		q.Set("page", strconv.Itoa(n+1))
		w.Header().Set("Link", fmt.Sprintf(`<%s%s?%s>; rel="next"`, f.URL, r.URL.Path, q.Encode()))
		return list[from : from+per]
	} else {
		return list[from:]
	}
}

func (f *Fake) handle(r *http.Request, body map[string]any) (int, any) {
	if r.URL.Path == "/user" {
		if f.Login == "" {
			return 403, map[string]any{"message": "Resource not accessible by integration"}
		}
		return 200, map[string]any{"login": f.Login}
	}
	if r.URL.Path == "/graphql" {
		if f.Viewer == "" {
			return 404, map[string]any{"message": "Not Found"}
		}
		return 200, map[string]any{"data": map[string]any{"viewer": map[string]any{"login": f.Viewer}}}
	}
	path, ok := strings.CutPrefix(r.URL.Path, "/repos/o/r/")
	if !ok {
		return 404, map[string]any{"message": "Not Found"}
	}
	parts := strings.Split(path, "/")
	if status := f.Denied[parts[0]]; status != 0 && r.Method != "GET" {
		return status, map[string]any{"message": "Resource not accessible by integration"}
	}
	switch parts[0] {
	case "issues":
		return f.comment(r.Method, parts, body)
	case "check-runs":
		return f.check(r.Method, parts, body)
	case "statuses":
		f.Statuses = append(f.Statuses, body)
		return 201, body
	case "pulls":
		if len(parts) == 1 {
			return 200, f.Pulls
		}
		for _, p := range f.Pulls {
			if fmt.Sprint(p["number"]) == parts[1] {
				return 200, p
			}
		}
	case "compare":
		if base, ok := f.MergeBase[parts[1]]; ok {
			return 200, map[string]any{"merge_base_commit": map[string]any{"sha": base}}
		}
	case "commits":
		if len(parts) == 3 && parts[2] == "check-runs" {
			runs := slices.DeleteFunc(slices.Clone(f.Checks), func(run map[string]any) bool {
				return run["head_sha"] != parts[1] || run["name"] != r.URL.Query().Get("check_name")
			})
			slices.Reverse(runs)
			return 200, map[string]any{"check_runs": runs}
		}
		var list []map[string]any
		for sha := r.URL.Query().Get("sha"); sha != ""; {
			list = append(list, map[string]any{"sha": sha})
			next := f.Parents[sha]
			if sha = ""; len(next) > 0 {
				sha = next[0]
			}
		}
		return 200, list
	}
	return 404, map[string]any{"message": "Not Found"}
}

func (f *Fake) comment(method string, parts []string, body map[string]any) (int, any) {
	author := f.Login
	if author == "" {
		author = f.Viewer
	}
	if author == "" {
		author = actionsBot
	}
	if method == "GET" {
		return 200, f.Comments
	}
	if parts[1] != "comments" {
		if len(body["body"].(string)) > maxComment {
			return 422, map[string]any{"message": "Body is too long (maximum is 65536 characters)"}
		}
		return 201, f.AddComment(author, body["body"].(string))
	}
	for i, c := range f.Comments {
		if fmt.Sprint(c["id"]) != parts[2] {
			continue
		}
		if method == "DELETE" {
			f.Comments = slices.Delete(f.Comments, i, i+1)
			return 204, nil
		}
		c["body"] = body["body"]
		return 200, c
	}
	return 404, map[string]any{"message": "Not Found"}
}

// AddComment adds a comment by author.
func (f *Fake) AddComment(author, body string) map[string]any {
	c := map[string]any{
		"id": len(f.Comments) + 1000, "body": body, "user": map[string]any{"login": author},
		"html_url": fmt.Sprintf("https://github.com/o/r/pull/7#issuecomment-%d", len(f.Comments)),
	}
	f.Comments = append(f.Comments, c)
	return c
}

func (f *Fake) check(method string, parts []string, body map[string]any) (int, any) {
	output := body["output"].(map[string]any)
	annotations, _ := output["annotations"].([]any)
	if len(annotations) > 50 || len(output["summary"].(string)) > maxCheckSummary {
		return 422, map[string]any{"message": "Invalid request."}
	}
	for _, a := range annotations {
		if strings.Contains(a.(map[string]any)["path"].(string), "refuse") {
			return 422, map[string]any{"message": "Invalid path."}
		}
	}
	if method == "PATCH" {
		run := f.Checks[len(f.Checks)-1]
		run["all"] = append(run["all"].([]any), annotations...)
		return 200, run
	}
	body["id"], body["html_url"], body["all"] = 9, "https://github.com/o/r/runs/9", annotations
	f.Checks = append(f.Checks, body)
	return 201, body
}
