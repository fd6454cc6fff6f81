package github

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// Context describes a run of GitHub Actions.
type Context struct {
	// Owner and Repo name the repository that the run belongs to.
	Owner, Repo string
	// APIURL and ServerURL end without a slash.
	APIURL, ServerURL string
	// Event is the event that started the run, such as "pull_request".
	Event string
	// RunID and Attempt identify the run.
	RunID   int64
	Attempt int
	// Job is the job's key in the workflow, Workflow the workflow's name.
	Job, Workflow string
	// Workspace is the folder of the checkout. It may be empty.
	Workspace string

	// PullRequest is the number of the pull request, 0 if there is none or the event does
	// not name it: see API.PullRequest.
	PullRequest int
	// HeadSHA is the commit in question. For a pull request it is the head, not the merge
	// that is checked out.
	HeadSHA string
	// HeadRef is its branch or tag, HeadRepo the repository with that, which differs for a
	// fork. Strangers may choose both names.
	HeadRef, HeadRepo string
	// BaseSHA and BaseRef are what a pull request will be merged into; for a push, BaseSHA
	// is the commit before it. They may be empty.
	BaseSHA, BaseRef string
	// DefaultBranch is empty if the event does not name it.
	DefaultBranch string
	// Fork says that the head comes from another repository: its author need not be
	// trusted, and on pull_request the token may only read.
	Fork bool
	// Deleted says that a push removed the branch.
	Deleted bool
	// RunEvent is the event that started the run that a workflow_run follows.
	RunEvent string
}

var (
	repoForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-_]{0,99}/[A-Za-z0-9._-]{1,100}$`)
	shaForm  = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
)

// FromEnv reads the description of the run. The error is ErrNotOnGitHub if this is not a
// run of GitHub Actions, which deserves one line of output and nothing worse.
func FromEnv(getenv func(string) string) (*Context, error) {
	for _, name := range []string{"GITHUB_ACTIONS", "GITHUB_REPOSITORY", "GITHUB_EVENT_NAME", "GITHUB_EVENT_PATH"} {
		if getenv(name) == "" {
			return nil, fmt.Errorf("%w: %s is not set", ErrNotOnGitHub, name)
		}
	}
	c, err := fromEnv(getenv)
	if err != nil {
		return nil, fmt.Errorf("read what GitHub says of this run: %w", err)
	}
	return c, nil
}

func fromEnv(getenv func(string) string) (*Context, error) {
	c := &Context{
		Event:     getenv("GITHUB_EVENT_NAME"),
		Job:       getenv("GITHUB_JOB"),
		Workflow:  getenv("GITHUB_WORKFLOW"),
		Workspace: getenv("GITHUB_WORKSPACE"),
		HeadSHA:   getenv("GITHUB_SHA"),
		HeadRef:   getenv("GITHUB_REF_NAME"),
		HeadRepo:  getenv("GITHUB_REPOSITORY"),
	}
	if !repositoryName(c.HeadRepo) {
		return nil, bench.WithHint(fmt.Errorf("GITHUB_REPOSITORY is %.120q, which is not of the form owner/name", c.HeadRepo),
			"the runner sets it, such as to octocat/hello-world; unset GITHUB_ACTIONS for a local run")
	}
	c.Owner, c.Repo, _ = strings.Cut(c.HeadRepo, "/")
	var err error
	if c.APIURL, err = serviceURL(getenv, "GITHUB_API_URL", "https://api.github.com"); err != nil {
		return nil, err
	}
	if c.ServerURL, err = serviceURL(getenv, "GITHUB_SERVER_URL", "https://github.com"); err != nil {
		return nil, err
	}
	// act leaves both out, or sets them to something that is not a number.
	c.RunID, _ = strconv.ParseInt(getenv("GITHUB_RUN_ID"), 10, 64)
	c.Attempt, _ = strconv.Atoi(getenv("GITHUB_RUN_ATTEMPT"))
	f, err := os.Open(getenv("GITHUB_EVENT_PATH"))
	if err != nil {
		return nil, fmt.Errorf("event: %w", err)
	}
	defer f.Close()
	e, err := decodeEvent(f)
	if err != nil {
		return nil, fmt.Errorf("event: %w", err)
	}
	if err := c.take(e); err != nil {
		return nil, fmt.Errorf("event %.40q: %w", c.Event, err)
	}
	return c, c.check()
}

// repositoryName reports whether s is an owner and name that cannot lead elsewhere as
// parts of a URL.
func repositoryName(s string) bool {
	_, name, _ := strings.Cut(s, "/")
	return repoForm.MatchString(s) && name != "." && name != ".."
}

// serviceURL returns a URL of GitHub, or of a self-hosted server.
func serviceURL(getenv func(string) string, name, fallback string) (string, error) {
	text := strings.TrimRight(cmp.Or(getenv(name), fallback), "/")
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("%s: %.200q is not a URL of a server", name, text)
	}
	return text, nil
}

// check refuses commits, a repository and a number that cannot be real.
func (c *Context) check() error {
	if c.HeadSHA == "" {
		return errors.New("the event names no commit")
	}
	if !IsSHA(c.HeadSHA) {
		return fmt.Errorf("%.80q is not a commit", c.HeadSHA)
	}
	if c.BaseSHA != "" && !IsSHA(c.BaseSHA) {
		return fmt.Errorf("%.80q is not a commit", c.BaseSHA)
	}
	if !repositoryName(c.HeadRepo) && c.HeadRepo != "" {
		return fmt.Errorf("%.120q is not a repository", c.HeadRepo)
	}
	if c.PullRequest < 0 {
		return fmt.Errorf("%d is not a number of a pull request", c.PullRequest)
	}
	return nil
}

// IsSHA reports whether s is the name of a git object, in hex.
func IsSHA(s string) bool { return shaForm.MatchString(s) }

// OnDefaultBranch reports whether this is a push whose run becomes the baseline: one to
// the default branch that did not remove it.
func (c *Context) OnDefaultBranch() bool {
	return c.Event == "push" && !c.Deleted && c.DefaultBranch != "" && c.HeadRef == c.DefaultBranch
}

// OfPullRequest reports whether the head will be merged into something that it can be
// compared with.
func (c *Context) OfPullRequest() bool {
	switch c.Event {
	case "workflow_run":
		return c.RunEvent == "pull_request" || c.RunEvent == "merge_group"
	case "push":
		return false
	}
	return c.BaseRef != ""
}

// MayMeasure returns ErrTarget if measuring would run the code of a pull request with a
// token that may write, and with the secrets of the repository. It decides by the name of
// the event alone, so that it does not depend on anything that may be unreadable.
func MayMeasure(getenv func(string) string) error {
	switch getenv("GITHUB_EVENT_NAME") {
	case "pull_request_target":
		return bench.WithHint(ErrTarget, "measure on pull_request; where a fork is to get a comment, report by a second workflow, on workflow_run")
	case "workflow_run":
		return bench.WithHint(fmt.Errorf("workflow_run: %w", ErrTarget), "measure in the first workflow, on pull_request, and only report here")
	}
	return nil
}

// RunURL returns the URL of the run's page, which has the summary and the uploaded files.
func (c *Context) RunURL() string {
	return fmt.Sprintf("%s/%s/%s/actions/runs/%d", c.ServerURL, c.Owner, c.Repo, c.RunID)
}

// Token returns the token in the environment, or an empty string. A process that runs the
// code of a pull request must not have it.
func Token(getenv func(string) string) string {
	return strings.TrimSpace(cmp.Or(getenv("GITHUB_TOKEN"), getenv("GH_TOKEN")))
}
