package github

import (
	"context"
	"net/http"
)

// actionsBot is the user of a job's token, which may not ask for its name.
const actionsBot = "github-actions[bot]"

// login returns the user name that the token comments under. GitHub tells it to a person's
// token, and to an app's through its GraphQL API.
func (a *API) login(ctx context.Context) (string, error) {
	user, _, err := a.Client.Users.Get(ctx, "")
	if IsRefusal(Status(err)) {
		return a.viewer(ctx), nil
	}
	if err != nil {
		return "", err
	}
	return user.GetLogin(), nil
}

// viewer returns the user name of an app's token, or that of a job's if GitHub does not
// answer.
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
