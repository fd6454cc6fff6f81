// Package github is how a run on GitHub Actions meets GitHub: it reads what
// the run is, writes its outputs, summary, annotations, comment and check, and
// keeps the baseline on a branch. It is the only reader of GITHUB_*, and the
// only one that holds the token. It knows nothing of what was measured: text
// and verdicts come in as plain values.
package github
