// Package e2e holds the end-to-end tests of the GitHub Action: act runs workflows that use
// it, against an emulated GitHub. It checks the action by what a user sees: comments,
// checks, logs, the exit code. It needs Node and what scripts/setup installs.
package e2e
