package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// To GitHub, a name with slashes at the end of a path is one parameter, which its
// description cannot express.
var tailPath = regexp.MustCompile(`^(/repos/[^/]+/[^/]+/(?:contents|git/refs?|git/matching-refs|branches)/)(.+)$`)

// checked puts GitHub's own description of its API before the emulation: the test fails
// for each request that does not match it.
func (g *github) checked(proxy *httputil.ReverseProxy, emulated *url.URL) *httputil.ReverseProxy {
	port := freePort(g.t)
	address := serve(g.t, port, "schema/node_modules/@stoplight/prism-cli/dist/index.js", "proxy", "--port", strconv.Itoa(port),
		"schema/node_modules/@octokit/openapi/generated/api.github.com.json", emulated.String())
	to, answered := rewrite(&url.URL{Scheme: "http", Host: address}), proxy.ModifyResponse
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			to(r)
			r.Out.Header.Set("Accept", "application/json")
			if m := tailPath.FindStringSubmatch(r.Out.URL.Path); m != nil {
				r.Out.URL.RawPath = m[1] + strings.ReplaceAll(url.PathEscape(m[2]), "/", "%2F")
			}
		},
		ModifyResponse: func(r *http.Response) error {
			g.violations(r)
			return answered(r)
		},
	}
}

// violations fails the test for what is wrong with a request. It ignores the emulation's
// responses.
func (g *github) violations(r *http.Response) {
	header := r.Header.Get("Sl-Violations")
	if header == "" {
		return
	}
	var all []struct {
		Location []string
		Message  string
	}
	if err := json.Unmarshal([]byte(header), &all); err != nil {
		g.t.Errorf("the checker said %q: %v", header, err)
	}
	for _, v := range all {
		if len(v.Location) > 0 && v.Location[0] == "request" {
			g.violated(fmt.Sprintf("%s %s: %s: %s", r.Request.Method, r.Request.URL.Path, strings.Join(v.Location, "."), v.Message))
		}
	}
}

// The checker finds errors, so that its silence means something.
func TestSchemaIsChecked(t *testing.T) {
	t.Parallel()
	if os.Getenv("EBPF_BENCH_E2E_SCHEMA") == "" {
		t.Skip("takes half a gigabyte: make e2e-schema runs it")
	}
	gh := newGitHub(t)
	var found []string
	gh.violated = func(what string) { found = append(found, what) }
	for path, body := range map[string]string{
		"/git/blobs":           `{"content": "fits"}`,
		"/git/trees":           `{"tree": 1}`,
		"/issues/1/comments":   `{"text": "no body"}`,
		"/git/ref/heads/a/b":   "",
		"/contents/some/where": "",
	} {
		method := http.MethodPost
		if body == "" {
			method = http.MethodGet
		}
		req, err := http.NewRequest(method, gh.URL+"/repos/"+here+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	slices.Sort(found)
	if len(found) != 2 || !strings.Contains(found[0], "/git/trees") || !strings.Contains(found[1], "/issues/1/comments") {
		t.Errorf("found %q", found)
	}
}
