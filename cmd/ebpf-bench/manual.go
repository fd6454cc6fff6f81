package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/org/ebpf-bench-action/internal/cli"
	"github.com/org/ebpf-bench-action/internal/exit"
)

func newManualCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "manual FOLDER",
		Short:   "Write a man page for each command",
		Long:    "Write a man page for each command into FOLDER, for scripts/release and packages. Their\ndate is SOURCE_DATE_EPOCH, if that is set.",
		Example: "  ebpf-bench manual man1",
		Hidden:  true,
		Args:    cli.UsageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			date, err := sourceDate(os.Getenv("SOURCE_DATE_EPOCH"))
			if err != nil {
				return exit.Usage(err)
			}
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			return writePages(args[0], cmd.Root(), date)
		},
	}
}

// sourceDate returns the time that a value of SOURCE_DATE_EPOCH stands for, zero for none.
func sourceDate(epoch string) (time.Time, error) {
	if epoch == "" {
		return time.Time{}, nil
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH: %q is not a number of seconds", epoch)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// writePages writes the pages of a command and of those below it. Hidden ones have none.
func writePages(folder string, cmd *cobra.Command, date time.Time) error {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() && !c.IsAdditionalHelpTopicCommand() {
			if err := writePages(folder, c, date); err != nil {
				return err
			}
		}
	}
	page, err := manPage(cmd, date)
	if err != nil {
		return err
	}
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
	return os.WriteFile(filepath.Join(folder, name), page, 0o644)
}

// manPage returns the page of a command. It makes Markdown of the command's text, because
// cobra expects that there.
func manPage(cmd *cobra.Command, date time.Time) ([]byte, error) {
	cmd.Long, cmd.DisableAutoGenTag = markdown(cmd.Long), true
	header := doc.GenManHeader{Source: "ebpf-bench " + version(), Manual: "ebpf-bench manual", Date: &date}
	var page bytes.Buffer
	if err := doc.GenMan(cmd, &header, &page); err != nil {
		return nil, err
	}
	if date.IsZero() {
		return bytes.Replace(page.Bytes(), []byte(date.Format(`"Jan 2006"`)), []byte(`""`), 1), nil
	}
	return page.Bytes(), nil
}

// markdown returns a text of help as Markdown: indented lines keep their form, and no
// character of the others has a meaning.
func markdown(text string) string {
	var b strings.Builder
	indented := false
	for line := range strings.SplitSeq(text, "\n") {
		if line != "" && strings.HasPrefix(line, " ") != indented {
			indented = !indented
			b.WriteString("\n```\n")
		}
		if !indented {
			line = escapeMarkdown(line)
		}
		b.WriteString(line + "\n")
	}
	if indented {
		b.WriteString("```\n")
	}
	return b.String()
}

var escapeMarkdown = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `_`, `\_`, `[`, `\[`, `<`, `\<`, `~`, `\~`).Replace
