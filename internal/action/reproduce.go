package action

import (
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/github"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// link returns a function for the URLs of lines of the head, nil in a local run, whose head
// may be nowhere else. Files that
// are not in the repository have none.
func (r *reporter) link(in *sources) func(file string, line int) string {
	if r.on == nil || r.rehearsed || !github.IsSHA(r.on.HeadSHA) {
		return nil
	}
	return func(file string, line int) string {
		if !in.placed[file] {
			return ""
		}
		var parts []string
		for part := range strings.SplitSeq(file, "/") {
			// GitHub's Markdown ends a link at a parenthesis.
			parts = append(parts, strings.NewReplacer("(", "%28", ")", "%29").Replace(url.PathEscape(part)))
		}
		return fmt.Sprintf("%s/%s/%s/blob/%s/%s#L%d", r.on.ServerURL, r.on.Owner, r.on.Repo, r.on.HeadSHA, strings.Join(parts, "/"), line)
	}
}

// reproduce returns the commands that build both sides and compare them as the action did,
// for a shell in a clone of the repository. It is empty if the base was not built, or if
// the commits are unknown.
func (r *reporter) reproduce(in *sources, comparisons []*bench.Comparison) string {
	if r.on == nil || len(comparisons) == 0 || r.in.build == "" || !github.IsSHA(comparisons[0].Base.Commit) || !github.IsSHA(comparisons[0].Head.Commit) {
		return ""
	}
	file := r.in.config
	if file == "" {
		file = suite.Here()
	}
	if file == "" || filepath.IsAbs(file) {
		return ""
	}
	compare, kernels := "ebpf-bench compare", []string{}
	for _, c := range comparisons {
		if c.Testbed.Asked != "" {
			kernels = unit.AppendNew(kernels, c.Testbed.Asked)
		}
	}
	switch {
	case r.in.mode == "host":
		compare, kernels = "sudo ebpf-bench compare", nil
	case r.in.mode == "kvm":
		compare += " --vm kvm"
	}
	if len(kernels) > 0 {
		compare += " --kernel " + escape.Shell(strings.Join(kernels, ","))
	}
	build := strings.TrimSpace(r.in.build)
	folder := path.Clean("../base/" + in.prefix)
	var commands []string
	if !r.rehearsed {
		commands = append(commands, "git fetch origin "+comparisons[0].Base.Commit+" "+comparisons[0].Head.Commit)
	}
	commands = append(commands,
		"git worktree add --detach ../base "+comparisons[0].Base.Commit,
		"git worktree add --detach ../head "+comparisons[0].Head.Commit)
	if comparisons[0].Head.Merged {
		commands = append(commands, "git -C ../head merge --quiet --no-ff --no-commit "+comparisons[0].Base.Commit)
	}
	commands = append(commands,
		"(", "cd "+escape.Shell(folder), build, ")",
		"cd "+escape.Shell(path.Clean("../head/"+in.prefix)),
		build,
		compare+" "+escape.Shell(path.Join(up(in.prefix), folder, file))+" "+escape.Shell(file))
	return strings.Join(commands, "\n")
}

// up returns the way from a folder below the head's worktree to where that was made from.
func up(prefix string) string {
	depth := 0
	if prefix = path.Clean(prefix); prefix != "." {
		depth = strings.Count(prefix, "/") + 1
	}
	return strings.Repeat("../", depth) + "."
}
