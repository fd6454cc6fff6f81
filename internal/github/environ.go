package github

import (
	"encoding/base64"
	"slices"
	"strings"
)

// secrets are the variables that let a program act as the job: tokens, and the files that
// tell the runner what to do in later steps.
var secrets = []string{
	"GITHUB_TOKEN", "GH_TOKEN", "GITHUB_PAT", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN",
	"INPUT_TOKEN", "INPUT_GITHUB-TOKEN", "INPUT_GITHUB_TOKEN",
	"ACTIONS_RUNTIME_TOKEN", "ACTIONS_RUNTIME_URL", "ACTIONS_RESULTS_URL", "ACTIONS_CACHE_URL",
	"ACTIONS_ID_TOKEN_REQUEST_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_URL",
	"GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STATE", "GITHUB_STEP_SUMMARY",
}

// WithoutSecrets returns an environment for the code of a pull request: it has no token,
// and no file through which later steps could be controlled.
func WithoutSecrets(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(secrets, strings.ToUpper(name))
	})
}

// OnActions reports whether output goes to the log of a job, where it could be a command
// to the runner.
func OnActions(getenv func(string) string) bool { return getenv("GITHUB_ACTIONS") != "" }

// handed are the variables of a run that measuring needs.
var handed = []string{"GITHUB_ACTIONS", "GITHUB_REPOSITORY", "GITHUB_EVENT_NAME", "GITHUB_EVENT_PATH", "GITHUB_SHA", "GITHUB_REF_NAME"}

// Handed returns the entries of an environment that identify this run, for a program that
// is started with no others. None is secret.
func Handed(environ []string) []string {
	var all []string
	for _, entry := range environ {
		if name, _, _ := strings.Cut(entry, "="); slices.Contains(handed, name) {
			all = append(all, entry)
		}
	}
	return all
}

// GitHeaders returns the values of git's http.<server>.extraheader that make it fetch with
// a token; the empty one removes earlier values. Without a token it returns none.
func GitHeaders(token string) []string {
	if token == "" {
		return nil
	}
	return []string{"", "AUTHORIZATION: basic " + base64.StdEncoding.EncodeToString([]byte("x-access-token:"+token))}
}

// DropSecrets restarts this program, by calling again, if its environment has variables
// that WithoutSecrets leaves out. Removing them would not do: its children can read in
// /proc what it was started with.
func DropSecrets(environ []string, again func(environ []string) error) error {
	if kept := WithoutSecrets(environ); len(kept) < len(environ) {
		return again(kept)
	}
	return nil
}
