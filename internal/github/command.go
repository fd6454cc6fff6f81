package github

import (
	"github.com/sethvargo/go-githubactions"

	"github.com/org/ebpf-bench-action/internal/escape"
)

// command returns a workflow command as one line, even if the text is hostile.
func command(name, text string, properties map[string]string) string {
	c := githubactions.Command{
		Name: name,
		// The runner decodes the text and prints it line by line.
		Message:    escape.LogText(text),
		Properties: make(githubactions.CommandProperties),
	}
	for key, value := range properties {
		if value != "" {
			c.Properties[key] = escape.Printable(value)
		}
	}
	return c.String()
}
