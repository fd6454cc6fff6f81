// Package escape makes text from strangers harmless where it is printed. Names, paths,
// verifier logs and whole files come from a pull request; this package alone knows what
// each destination would do with them:
//
//	Printable      a terminal, or a line of a job's log
//	LogText        many lines of a job's log; so does LogWriter
//	Output         a file of outputs or variables, such as GITHUB_OUTPUT
//	MarkdownCode   Markdown, a name; also in a cell of a table
//	Markdown       Markdown, a sentence; also in a cell of a table
//	MarkdownLine   Markdown, a sentence that begins a line
//	MarkdownFence  Markdown, many lines
//
// The data and properties of a workflow command go through LogText and Printable before they
// are encoded. JSON is encoded by its library. The package knows neither where text comes
// from nor how much of it there may be.
package escape
