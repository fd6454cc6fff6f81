package github

import (
	"github.com/sethvargo/go-githubactions"

	"github.com/org/ebpf-bench-action/internal/escape"
)

// command is a workflow command with hostile text in it, as one line.
func command(name, text string, properties map[string]string) string {
	c := githubactions.Command{
		Name: name,
		// The runner prints the text line by line where it decoded it.
		Message:    escape.LogText(text),
		Properties: make(githubactions.CommandProperties),
	}
	for key, value := range properties {
		if value != "" {
			c.Properties[key] = escape.LogLine(value)
		}
	}
	return c.String()
}
