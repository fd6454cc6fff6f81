package github

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	headSHA  = "1111111111111111111111111111111111111111"
	baseSHA  = "2222222222222222222222222222222222222222"
	mergeSHA = "3333333333333333333333333333333333333333"
	zeroSHA  = "0000000000000000000000000000000000000000"
)

// environment returns what a runner sets, with an event and other settings in pairs.
func environment(t testing.TB, name, payload string, more ...string) func(string) string {
	path := filepath.Join(t.TempDir(), "event.json")
	if err := os.WriteFile(path, []byte(payload), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{
		"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "o/r", "GITHUB_API_URL": "https://api.github.com", "GITHUB_SERVER_URL": "https://github.com",
		"GITHUB_EVENT_NAME": name, "GITHUB_EVENT_PATH": path, "GITHUB_SHA": mergeSHA, "GITHUB_REF_NAME": "main", "GITHUB_RUN_ID": "42", "GITHUB_RUN_ATTEMPT": "2",
	}
	for i := 0; i < len(more); i += 2 {
		env[more[i]] = more[i+1]
	}
	return func(name string) string { return env[name] }
}

func pullEvent(headRepo string) string {
	return `{"action": "opened", "number": 7, "pull_request": {"number": 7, "title": "::error::x",
		"head": {"ref": "feature", "sha": "` + headSHA + `", "repo": ` + headRepo + `},
		"base": {"ref": "main", "sha": "` + baseSHA + `", "repo": {"full_name": "o/r"}}},
		"repository": {"full_name": "o/r", "default_branch": "main"}}`
}

func TestWhatTheEventsSay(t *testing.T) {
	const repository = `"repository": {"full_name": "o/r", "default_branch": "main"}`
	common := Context{
		Owner: "o", Repo: "r", APIURL: "https://api.github.com", ServerURL: "https://github.com", RunID: 42, Attempt: 2,
		HeadRepo: "o/r", DefaultBranch: "main",
	}
	with := func(change func(*Context)) Context { c := common; change(&c); return c }
	for _, test := range []struct {
		what, event, payload string
		want                 Context
		saves                bool
	}{
		{"a pull request", "pull_request", pullEvent(`{"full_name": "o/r"}`), with(func(c *Context) {
			c.PullRequest, c.HeadSHA, c.HeadRef, c.BaseSHA, c.BaseRef = 7, headSHA, "feature", baseSHA, "main"
		}), false},
		{"one from a fork", "pull_request", pullEvent(`{"full_name": "stranger/r"}`), with(func(c *Context) {
			c.PullRequest, c.HeadSHA, c.HeadRef, c.BaseSHA, c.BaseRef = 7, headSHA, "feature", baseSHA, "main"
			c.HeadRepo, c.Fork = "stranger/r", true
		}), false},
		{"one from a fork that is gone", "pull_request_target", pullEvent(`null`), with(func(c *Context) {
			c.PullRequest, c.HeadSHA, c.HeadRef, c.BaseSHA, c.BaseRef = 7, headSHA, "feature", baseSHA, "main"
			c.HeadRepo, c.Fork = "", true
		}), false},
		{"a push", "push", `{"ref": "refs/heads/main", "before": "` + baseSHA + `", "after": "` + headSHA + `", ` + repository + `}`, with(func(c *Context) {
			c.HeadSHA, c.HeadRef, c.BaseSHA = headSHA, "main", baseSHA
		}), true},
		{"a push to another branch", "push", `{"ref": "refs/heads/a/b", "before": "` + zeroSHA + `", "after": "` + headSHA + `", ` + repository + `}`, with(func(c *Context) {
			c.HeadSHA, c.HeadRef = headSHA, "a/b"
		}), false},
		{"a tag that is called like the default branch", "push", `{"ref": "refs/tags/main", "after": "` + headSHA + `", ` + repository + `}`, with(func(c *Context) {
			c.HeadSHA, c.HeadRef = headSHA, "refs/tags/main"
		}), false},
		{"a removed branch", "push", `{"ref": "refs/heads/main", "deleted": true, "before": "` + baseSHA + `", "after": "` + zeroSHA + `", ` + repository + `}`, with(func(c *Context) {
			c.HeadSHA, c.HeadRef, c.BaseSHA, c.Deleted = mergeSHA, "main", baseSHA, true
		}), false},
		{"a workflow run of a fork", "workflow_run", `{"workflow_run": {"event": "pull_request", "head_sha": "` + headSHA + `", "head_branch": "feature",
			"head_repository": {"full_name": "stranger/r"}, "pull_requests": [{"number": 99}]}, ` + repository + `}`, with(func(c *Context) {
			c.HeadSHA, c.HeadRef, c.HeadRepo, c.Fork, c.RunEvent = headSHA, "feature", "stranger/r", true, "pull_request"
		}), false},
		{"a merge group", "merge_group", `{"merge_group": {"head_sha": "` + headSHA + `", "head_ref": "refs/heads/gh-readonly-queue/main/x", "base_sha": "` + baseSHA + `", "base_ref": "refs/heads/main"}, ` + repository + `}`, with(func(c *Context) {
			c.HeadSHA, c.HeadRef, c.BaseSHA, c.BaseRef = headSHA, "gh-readonly-queue/main/x", baseSHA, "main"
		}), false},
		{"a schedule", "schedule", `{"schedule": "0 0 * * *"}`, with(func(c *Context) {
			c.HeadSHA, c.HeadRef, c.DefaultBranch = mergeSHA, "main", ""
		}), false},
		{"by hand", "workflow_dispatch", `{"inputs": null, ` + repository + `}`, with(func(c *Context) { c.HeadSHA, c.HeadRef = mergeSHA, "main" }), false},
	} {
		t.Run(test.what, func(t *testing.T) {
			got, err := FromEnv(environment(t, test.event, test.payload))
			if err != nil {
				t.Fatal(err)
			}
			test.want.Event = test.event
			if *got != test.want {
				t.Errorf("got  %+v\nwant %+v", *got, test.want)
			}
			if got.OnDefaultBranch() != test.saves {
				t.Errorf("OnDefaultBranch is %v", !test.saves)
			}
		})
	}
}

func TestNotOnGitHub(t *testing.T) {
	for _, missing := range []string{"GITHUB_ACTIONS", "GITHUB_REPOSITORY", "GITHUB_EVENT_NAME", "GITHUB_EVENT_PATH"} {
		_, err := FromEnv(environment(t, "push", "{}", missing, ""))
		if !errors.Is(err, ErrNotOnGitHub) || !strings.Contains(err.Error(), missing) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", missing, err)
		}
	}
}

func TestEventsThatAreNone(t *testing.T) {
	pull := pullEvent(`{"full_name": "o/r"}`)
	for what, test := range map[string]struct {
		event, payload, word string
		env                  []string
	}{
		"empty":                       {"push", "", "empty", nil},
		"cut off":                     {"push", `{"ref": `, "cut off", nil},
		"null":                        {"push", "null", "no event", nil},
		"two":                         {"push", "{}{}", "follows", nil},
		"a list":                      {"push", "[]", "array", nil},
		"without pull request":        {"pull_request", "{}", "no pull request", nil},
		"without workflow run":        {"workflow_run", "{}", "no workflow run", nil},
		"without merge group":         {"merge_group", "{}", "no merge group", nil},
		"a number that is none":       {"pull_request", strings.ReplaceAll(pull, "7", "-7"), "not a number", nil},
		"two numbers":                 {"pull_request", strings.Replace(pull, "7", "8", 1), "not a number", nil},
		"a head that is not a commit": {"pull_request", strings.Replace(pull, headSHA, "main", 1), "not a commit", nil},
		"a base that is not a commit": {"pull_request", strings.Replace(pull, baseSHA, headSHA+"\\n", 1), "not a commit", nil},
		"of another repository":       {"push", `{"repository": {"full_name": "o/other"}}`, "repository", nil},
		"a fork that leads elsewhere": {"pull_request", pullEvent(`{"full_name": "../x"}`), "not a repository", nil},
		"no commit at all":            {"push", "{}", "not a commit", []string{"GITHUB_SHA", "HEAD"}},
		"no repository":               {"push", "{}", "owner/name", []string{"GITHUB_REPOSITORY", "o/r/../.."}},
		"dots for a repository":       {"push", "{}", "owner/name", []string{"GITHUB_REPOSITORY", "o/.."}},
		"no URL":                      {"push", "{}", "URL", []string{"GITHUB_API_URL", "file:///etc"}},
		"a URL with a query":          {"push", "{}", "URL", []string{"GITHUB_API_URL", "https://x/?a=b"}},
		"a user in the URL":           {"push", "{}", "URL", []string{"GITHUB_SERVER_URL", "https://a@x"}},
		"no file":                     {"push", "{}", "event", []string{"GITHUB_EVENT_PATH", "/does/not/exist"}},
	} {
		_, err := FromEnv(environment(t, test.event, test.payload, test.env...))
		if err == nil || errors.Is(err, ErrNotOnGitHub) || !strings.Contains(err.Error(), test.word) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestAnEventWithoutEndIsCut(t *testing.T) {
	_, err := decodeEvent(strings.NewReader(`{"ref": "` + strings.Repeat("x", maxEvent)))
	if err == nil || !strings.Contains(err.Error(), "more than 32 MiB") {
		t.Error(err)
	}
}

func TestOnlyPullRequestMeasures(t *testing.T) {
	for event, ok := range map[string]bool{"pull_request": true, "push": true, "schedule": true, "merge_group": true, "pull_request_target": false, "workflow_run": false} {
		getenv := func(name string) string { return map[string]string{"GITHUB_EVENT_NAME": event}[name] }
		if err := MayMeasure(getenv); (err == nil) != ok || !ok && !errors.Is(err, ErrTarget) {
			t.Errorf("%s: %v", event, err)
		}
	}
}

// A head that will be merged has something to be compared with.
func TestOfPullRequest(t *testing.T) {
	for _, c := range []struct {
		on   Context
		want bool
	}{
		{Context{Event: "pull_request", BaseRef: "main"}, true},
		{Context{Event: "merge_group", BaseRef: "main"}, true},
		{Context{Event: "push", BaseSHA: baseSHA}, false},
		{Context{Event: "schedule"}, false},
		{Context{Event: "workflow_run", RunEvent: "pull_request"}, true},
		{Context{Event: "workflow_run", RunEvent: "push"}, false},
	} {
		if got := c.on.OfPullRequest(); got != c.want {
			t.Errorf("%+v: %v", c.on, got)
		}
	}
}

func TestURLs(t *testing.T) {
	c, err := FromEnv(environment(t, "workflow_dispatch", "{}", "GITHUB_API_URL", "https://ghe.example/api/v3/", "GITHUB_SERVER_URL", "https://ghe.example"))
	if err != nil {
		t.Fatal(err)
	}
	a, err := NewAPI(c, "t")
	if err != nil {
		t.Fatal(err)
	}
	if a.Client.BaseURL.String() != "https://ghe.example/api/v3/" || a.graphQL != "https://ghe.example/api/graphql" || c.RunURL() != "https://ghe.example/o/r/actions/runs/42" {
		t.Errorf("%s, %s, %s", a.Client.BaseURL, a.graphQL, c.RunURL())
	}
}

func TestTokens(t *testing.T) {
	env := map[string]string{"GH_TOKEN": "b\n"}
	getenv := func(name string) string { return env[name] }
	if Token(getenv) != "b" {
		t.Errorf("token %q", Token(getenv))
	}
	maps.Copy(env, map[string]string{"GITHUB_TOKEN": "a"})
	if Token(getenv) != "a" {
		t.Errorf("token %q", Token(getenv))
	}
	for _, token := range []string{"", "a\nX-Evil: b", "a b"} {
		if _, err := NewAPI(&Context{APIURL: "https://x"}, token); !errors.Is(err, ErrNoToken) {
			t.Errorf("%q: %v", token, err)
		}
	}
}

func FuzzEvent(f *testing.F) {
	f.Add("pull_request", pullEvent("null"))
	f.Add("push", `{"ref": "refs/heads/main"}`)
	f.Add("workflow_run", `{"workflow_run": {}}`)
	f.Fuzz(func(t *testing.T, name, payload string) {
		e, err := decodeEvent(strings.NewReader(payload))
		if err != nil {
			return
		}
		c := &Context{Owner: "o", Repo: "r", HeadRepo: "o/r", HeadSHA: mergeSHA, Event: name}
		if c.take(e) != nil || c.check() != nil {
			return
		}
		if !IsSHA(c.HeadSHA) || c.PullRequest < 0 || c.Owner != "o" || c.Repo != "r" {
			t.Errorf("%+v", c)
		}
	})
}
