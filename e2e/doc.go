// Package e2e holds the end-to-end tests of the GitHub Action: act runs
// workflows that use it, against an emulated GitHub. It knows the action by
// what a user of it sees: comments, checks, logs, the exit code. `make e2e`
// runs it; nothing else does, because it takes Node and some minutes.
package e2e
