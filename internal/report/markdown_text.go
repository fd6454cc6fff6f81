package report

// MarkdownText is a stranger's sentence for one line of a comment: as it is
// where nothing in it means anything to GitHub, else as code.
func MarkdownText(s string) string { return markdownText(s) }
