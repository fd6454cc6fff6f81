package github

import (
	"context"
	"net/http"
)

// actionsBot is who the token of a job is, which may not ask for its name.
const actionsBot = "github-actions[bot]"

// login is the name that the token writes comments by. GitHub tells it to a
// person's token, and to an app's by its other API.
func (a *API) login(ctx context.Context) (string, error) {
	user, _, err := a.Client.Users.Get(ctx, "")
	switch Status(err) {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
		return a.viewer(ctx), nil
	}
	if err != nil {
		return "", err
	}
	return user.GetLogin(), nil
}

// viewer is the name of an app's token. It is the job's own where GitHub does
// not tell.
func (a *API) viewer(ctx context.Context) string {
	var answer struct {
		Data struct {
			Viewer struct {
				Login string `json:"login"`
			} `json:"viewer"`
		} `json:"data"`
	}
	req, err := a.Client.NewRequest(http.MethodPost, a.graphQL, map[string]string{"query": "query{viewer{login}}"})
	if err != nil {
		return actionsBot
	}
	if _, err := a.Client.Do(ctx, req, &answer); err != nil || answer.Data.Viewer.Login == "" {
		return actionsBot
	}
	return answer.Data.Viewer.Login
}
