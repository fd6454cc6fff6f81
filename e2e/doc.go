// Package e2e holds the end-to-end tests of the GitHub Action: act runs workflows that use
// it, against an emulated GitHub. It checks the action by what a user sees: comments,
// checks, logs, the exit code. Only `make e2e` runs it, because it needs Node and takes
// some minutes.
package e2e
