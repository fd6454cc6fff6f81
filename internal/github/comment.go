package github

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	gh "github.com/google/go-github/v53/github"
)

// Comment is the only comment with its key on a pull request.
type Comment struct {
	// Key distinguishes it from other comments of this tool, such as those of another
	// suite or job. It may be any text.
	Key string
	// Body is Markdown, and is cut to the length that GitHub accepts. More is then the
	// last line, and says where the whole text is.
	Body, More string
	// State identifies what the comment says. It may be any text, such as the verdicts
	// without their numbers.
	State string
	// OnlyOnChange leaves a comment with the same State as it is, and creates none unless
	// it is Notable.
	OnlyOnChange, Notable bool
}

// Commented is the result of Comment.
type Commented struct {
	// Action is "created", "updated", "unchanged", or "none" if there is no comment and
	// none was wanted.
	Action string
	URL    string
}

// maxCommentPages is how many pages of a hundred comments are searched.
const maxCommentPages = 100

// Comment creates the comment, or updates the existing one: one that begins with the key's
// marker and was written by this token's user. If two jobs created one each at the same
// time, the older one stays.
func (a *API) Comment(ctx context.Context, number int, c Comment) (Commented, error) {
	if number <= 0 {
		return Commented{}, ErrNoPullRequest
	}
	found, err := a.comments(ctx, number, c.marker())
	if err != nil {
		return Commented{}, ErrorOf("find the comment", err)
	}
	if len(found) == 0 {
		return a.createComment(ctx, number, c)
	}
	for _, twin := range found[1:] {
		if _, err := a.Client.Issues.DeleteComment(ctx, a.Owner, a.Repo, twin.GetID()); err != nil && Status(err) != http.StatusNotFound {
			return Commented{}, ErrorOf("remove a second comment", err)
		}
	}
	return a.updateComment(ctx, found[0], c)
}

func (a *API) createComment(ctx context.Context, number int, c Comment) (Commented, error) {
	if c.OnlyOnChange && !c.Notable {
		return Commented{Action: "none"}, nil
	}
	made, _, err := a.Client.Issues.CreateComment(ctx, a.Owner, a.Repo, number, &gh.IssueComment{Body: gh.String(c.text())})
	if err != nil {
		return Commented{}, ErrorOf("comment", err)
	}
	return Commented{"created", made.GetHTMLURL()}, nil
}

func (a *API) updateComment(ctx context.Context, old *gh.IssueComment, c Comment) (Commented, error) {
	text := c.text()
	same := func(a, b string) bool { return strings.TrimSpace(a) == strings.TrimSpace(b) }
	if same(old.GetBody(), text) || c.OnlyOnChange && firstLine(old.GetBody()) == firstLine(text) {
		return Commented{"unchanged", old.GetHTMLURL()}, nil
	}
	made, _, err := a.Client.Issues.EditComment(ctx, a.Owner, a.Repo, old.GetID(), &gh.IssueComment{Body: gh.String(text)})
	if err != nil {
		return Commented{}, ErrorOf("update the comment", err)
	}
	return Commented{"updated", made.GetHTMLURL()}, nil
}

// comments returns our own comments with the marker, the oldest first.
func (a *API) comments(ctx context.Context, number int, marker string) ([]*gh.IssueComment, error) {
	author, err := a.login(ctx)
	if err != nil {
		return nil, err
	}
	var own []*gh.IssueComment
	opts := &gh.IssueListCommentsOptions{ListOptions: gh.ListOptions{PerPage: 100, Page: 1}}
	for range maxCommentPages {
		page, resp, err := a.Client.Issues.ListComments(ctx, a.Owner, a.Repo, number, opts)
		if err != nil {
			return nil, err
		}
		for _, c := range page {
			if strings.HasPrefix(c.GetBody(), marker) && strings.EqualFold(c.GetUser().GetLogin(), author) {
				own = append(own, c)
			}
		}
		if resp.NextPage <= opts.Page {
			slices.SortFunc(own, func(x, y *gh.IssueComment) int { return int(x.GetID() - y.GetID()) })
			return own, nil
		}
		opts.Page = resp.NextPage
	}
	return nil, errors.New("the discussion is too long to search")
}

// marker returns the invisible beginning of a comment with the key.
func (c *Comment) marker() string { return "<!-- ebpf-bench " + digest(c.Key) + " " }

// text returns the whole text of the comment.
func (c *Comment) text() string {
	head := c.marker() + digest(c.State) + " -->\n"
	return head + Cut(c.Body, MaxComment-len(head), c.More)
}

// digest returns a short hash of any text.
func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return fmt.Sprintf("%x", sum[:8])
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return strings.TrimSpace(line)
}
