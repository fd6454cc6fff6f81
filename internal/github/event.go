package github

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxEvent is larger than any event that GitHub sends, in bytes.
const maxEvent = 32 << 20

// event has the fields that the payloads of events share. Names and titles in them come
// from strangers.
type event struct {
	Number      int          `json:"number"`
	PullRequest *eventPull   `json:"pull_request"`
	WorkflowRun *workflowRun `json:"workflow_run"`
	MergeGroup  *mergeGroup  `json:"merge_group"`
	Repository  eventRepo    `json:"repository"`
	Ref         string       `json:"ref"`
	Before      string       `json:"before"`
	After       string       `json:"after"`
	Deleted     bool         `json:"deleted"`
}

type eventRepo struct {
	FullName      string `json:"full_name"`
	DefaultBranch string `json:"default_branch"`
}

type eventPull struct {
	Number int       `json:"number"`
	Head   eventSide `json:"head"`
	Base   eventSide `json:"base"`
}

// eventSide is a side of a pull request. Its repository is nil if the fork was deleted.
type eventSide struct {
	Ref  string     `json:"ref"`
	SHA  string     `json:"sha"`
	Repo *eventRepo `json:"repo"`
}

func (s *eventSide) repo() string {
	if s.Repo == nil {
		return ""
	}
	return s.Repo.FullName
}

type workflowRun struct {
	Event          string     `json:"event"`
	HeadSHA        string     `json:"head_sha"`
	HeadBranch     string     `json:"head_branch"`
	HeadRepository *eventRepo `json:"head_repository"`
}

type mergeGroup struct {
	HeadSHA string `json:"head_sha"`
	HeadRef string `json:"head_ref"`
	BaseSHA string `json:"base_sha"`
	BaseRef string `json:"base_ref"`
}

// decodeEvent reads the payload of one event, and refuses anything else.
func decodeEvent(r io.Reader) (*event, error) {
	limited := &io.LimitedReader{R: r, N: maxEvent + 1}
	d := json.NewDecoder(limited)
	var e *event
	err := d.Decode(&e)
	switch {
	case limited.N <= 0:
		return nil, fmt.Errorf("more than %d MiB", maxEvent>>20)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errors.New("the file is empty or cut off")
	case err != nil:
		return nil, err
	case e == nil:
		return nil, errors.New("no event in it")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the event")
	}
	return e, nil
}

// take copies what the event says about the run. Requests still go to GITHUB_REPOSITORY.
func (c *Context) take(e *event) error {
	if e.Repository.FullName != "" && !strings.EqualFold(e.Repository.FullName, c.Owner+"/"+c.Repo) {
		return fmt.Errorf("it is from the repository %.120q", e.Repository.FullName)
	}
	c.DefaultBranch = e.Repository.DefaultBranch
	switch c.Event {
	case "pull_request", "pull_request_target":
		return c.takePull(e)
	case "workflow_run":
		return c.takeRun(e)
	case "merge_group":
		if e.MergeGroup == nil {
			return errors.New("it has no merge group")
		}
		g := e.MergeGroup
		c.HeadSHA, c.HeadRef, c.BaseSHA, c.BaseRef = g.HeadSHA, branch(g.HeadRef), g.BaseSHA, branch(g.BaseRef)
	case "push":
		c.takePush(e)
	}
	return nil
}

func (c *Context) takePull(e *event) error {
	p := e.PullRequest
	if p == nil {
		return errors.New("it has no pull request")
	}
	if p.Number <= 0 || e.Number != 0 && e.Number != p.Number {
		return fmt.Errorf("%d is not a number of a pull request, or not that of the event", p.Number)
	}
	c.PullRequest = p.Number
	c.HeadSHA, c.HeadRef, c.HeadRepo = p.Head.SHA, p.Head.Ref, p.Head.repo()
	c.BaseSHA, c.BaseRef = p.Base.SHA, p.Base.Ref
	c.Fork = c.foreign()
	return nil
}

// takeRun reads a completed workflow run. It ignores its list of pull requests, which is
// empty for forks, and may be of other repositories.
func (c *Context) takeRun(e *event) error {
	r := e.WorkflowRun
	if r == nil {
		return errors.New("it has no workflow run")
	}
	c.HeadSHA, c.HeadRef, c.HeadRepo, c.RunEvent = r.HeadSHA, r.HeadBranch, "", r.Event
	if r.HeadRepository != nil {
		c.HeadRepo = r.HeadRepository.FullName
	}
	c.Fork = c.foreign()
	return nil
}

func (c *Context) takePush(e *event) {
	// A removed branch has no head; GITHUB_SHA is then from another branch.
	c.Deleted = e.Deleted
	if e.After != "" && !zero(e.After) {
		c.HeadSHA = e.After
	}
	if e.Before != "" && !zero(e.Before) {
		c.BaseSHA = e.Before
	}
	if e.Ref != "" {
		c.HeadRef = branch(e.Ref)
	}
}

// foreign reports whether the head is in another repository. A deleted repository was
// another one.
func (c *Context) foreign() bool { return !strings.EqualFold(c.HeadRepo, c.Owner+"/"+c.Repo) }

// branch returns the name of a branch. A tag keeps its refs/tags/, so that it is not
// mistaken for a branch of that name.
func branch(ref string) string { return strings.TrimPrefix(ref, "refs/heads/") }

func zero(sha string) bool { return strings.Trim(sha, "0") == "" }
