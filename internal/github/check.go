package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	gh "github.com/google/go-github/v53/github"

	"github.com/org/ebpf-bench-action/internal/escape"
)

// Conclusion is how a check ended.
type Conclusion string

// The conclusions of a check.
const (
	Success Conclusion = "success"
	Failed  Conclusion = "failure"
	Neutral Conclusion = "neutral"
)

// Check is a verdict on a commit.
type Check struct {
	// Name distinguishes it from other checks of the commit.
	Name string
	SHA  string
	Conclusion
	// Title is one line of text. Summary is Markdown, and is cut to the length that GitHub
	// accepts; More is then its last line.
	Title, Summary, More string
	// URL is where to read more.
	URL string
	// Mark is for later runs: see EarlierMarks. A commit status has none.
	Mark string
	// Annotations without a file in the repository are left out.
	Annotations []Annotation
}

// Published is how a check was published.
type Published struct {
	// As is "check run", "commit status" or "nothing".
	As  string
	URL string
	// Why is why it is not a check run, or what the check run lacks. It is empty if
	// nothing is missing.
	Why string
	// Annotated reports that it has the annotations, as many as a check run may.
	Annotated bool
}

// PublishCheck publishes a check run with its annotations. If that is not permitted, it
// sets a commit status, and if not even that is, the error is ErrReadOnly.
func (a *API) PublishCheck(ctx context.Context, c Check) (Published, error) {
	p, err := a.checkRun(ctx, c)
	if !errors.Is(err, ErrReadOnly) {
		return p, err
	}
	why := err.Error()
	p, err = a.commitStatus(ctx, c)
	switch {
	case errors.Is(err, ErrReadOnly):
		return Published{As: "nothing", Why: why + "; " + err.Error()}, err
	case err != nil:
		return p, err
	}
	p.Why = why
	return p, nil
}

// checkRun creates a check run that already has its conclusion, and then adds the
// annotations that exceed the limit of one request.
func (a *API) checkRun(ctx context.Context, c Check) (Published, error) {
	all, why := c.annotations()
	var first []*gh.CheckRunAnnotation
	var rest [][]*gh.CheckRunAnnotation
	if batches := slices.Collect(slices.Chunk(all, maxAnnotations)); len(batches) > 0 {
		first, rest = batches[0], batches[1:]
	}
	run, err := a.createRun(ctx, c, first)
	annotated := true
	// The verdict must be published even if GitHub refuses a line or file.
	if Status(err) == http.StatusUnprocessableEntity && len(first) > 0 {
		rest, annotated, why = nil, false, "GitHub refused the annotations: "+escape.Printable(escape.Clip(message(err), 200))
		run, err = a.createRun(ctx, c, nil)
	}
	if err != nil {
		return Published{As: "nothing"}, ErrorOf("create a check run", err)
	}
	p := Published{As: "check run", URL: run.GetHTMLURL(), Why: why, Annotated: annotated}
	for _, batch := range rest {
		_, _, err := a.Client.Checks.UpdateCheckRun(ctx, a.Owner, a.Repo, run.GetID(), gh.UpdateCheckRunOptions{
			Name: c.Name, Output: c.output(batch),
		})
		if Status(err) == http.StatusUnprocessableEntity {
			p.Annotated, p.Why = false, "GitHub refused some of the annotations: "+escape.Printable(escape.Clip(message(err), 200))
			return p, nil
		}
		if err != nil {
			p.Annotated = false
			return p, fmt.Errorf("add annotations to the check run: %w", err)
		}
	}
	return p, nil
}

func (a *API) createRun(ctx context.Context, c Check, first []*gh.CheckRunAnnotation) (*gh.CheckRun, error) {
	opts := gh.CreateCheckRunOptions{
		Name: c.Name, HeadSHA: c.SHA,
		Status: gh.String("completed"), Conclusion: gh.String(string(c.Conclusion)),
		CompletedAt: &gh.Timestamp{Time: time.Now()},
		Output:      c.output(first),
	}
	if c.URL != "" {
		opts.DetailsURL = gh.String(c.URL)
	}
	if c.Mark != "" {
		opts.ExternalID = gh.String(c.Mark)
	}
	run, _, err := a.Client.Checks.CreateCheckRun(ctx, a.Owner, a.Repo, opts)
	return run, err
}

func (c *Check) output(annotations []*gh.CheckRunAnnotation) *gh.CheckRunOutput {
	return &gh.CheckRunOutput{
		Title:       gh.String(escape.Clip(escape.Printable(c.Title), maxTitle)),
		Summary:     gh.String(Cut(c.Summary, MaxCheckSummary, c.More)),
		Annotations: annotations,
	}
}

// annotations returns those that a check run can have, and a remark if there are more.
func (c *Check) annotations() (all []*gh.CheckRunAnnotation, why string) {
	for i := range c.Annotations {
		if a := c.Annotations[i].checked(); a != nil {
			all = append(all, a)
		}
	}
	if len(all) > maxAllAnnotated {
		why = fmt.Sprintf("%d of %d annotations are shown", maxAllAnnotated, len(all))
		all = all[:maxAllAnnotated]
	}
	return all, why
}

// checked returns an annotation for a check run, nil if it has no file.
func (a *Annotation) checked() *gh.CheckRunAnnotation {
	file, ok := repoPath(a.Path)
	if !ok {
		return nil
	}
	first, last := a.lines()
	text := cutText(escape.LogText(a.Message), maxAnnotation)
	if text == "" {
		text = "(no message)"
	}
	checked := &gh.CheckRunAnnotation{
		Path:            gh.String(file),
		StartLine:       gh.Int(max(first, 1)),
		EndLine:         gh.Int(max(last, 1)),
		AnnotationLevel: gh.String(string(a.Level.known())),
		Message:         gh.String(text),
	}
	if a.Title != "" {
		checked.Title = gh.String(escape.Clip(escape.Printable(a.Title), maxTitle))
	}
	return checked
}

// commitStatus publishes the verdict as one line.
func (a *API) commitStatus(ctx context.Context, c Check) (Published, error) {
	state := "success"
	if c.Conclusion == Failed {
		state = "failure"
	}
	s := &gh.RepoStatus{
		State:       gh.String(state),
		Context:     gh.String(c.Name),
		Description: gh.String(escape.Clip(escape.Printable(c.Title), maxStatus)),
	}
	if c.URL != "" {
		s.TargetURL = gh.String(c.URL)
	}
	made, _, err := a.Client.Repositories.CreateStatus(ctx, a.Owner, a.Repo, c.SHA, s)
	if err != nil {
		return Published{As: "nothing"}, ErrorOf("set a commit status", err)
	}
	return Published{As: "commit status", URL: made.GetURL()}, nil
}
