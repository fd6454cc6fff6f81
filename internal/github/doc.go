// Package github connects a run on GitHub Actions with GitHub: it reads the description of
// the run, and writes its outputs, summary, annotations, comment and check. It is the only
// reader of GITHUB_*, and the only one that holds the token. It knows nothing about
// measurements: text and verdicts come in as plain values.
package github
