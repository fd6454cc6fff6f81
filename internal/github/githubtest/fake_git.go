package githubtest

import (
	"crypto/sha1"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// SHA returns the name that git gives an object.
func SHA(kind, content string) string {
	h := sha1.New()
	fmt.Fprintf(h, "%s %d\x00%s", kind, len(content), content)
	return hex.EncodeToString(h.Sum(nil))
}

func (f *Fake) git(r *http.Request, parts []string, body map[string]any) (int, any) {
	get := func(key string) string { s, _ := body[key].(string); return s }
	switch r.Method + " " + parts[0] {
	case "POST blobs":
		if f.Empty {
			return 409, map[string]any{"message": "Git Repository is empty."}
		}
		data, err := base64.StdEncoding.DecodeString(get("content"))
		if err != nil {
			return 422, map[string]any{"message": err.Error()}
		}
		name := SHA("blob", string(data))
		f.Blobs[name] = data
		return 201, map[string]any{"sha": name}
	case "GET blobs":
		data, ok := f.Blobs[parts[1]]
		if !ok {
			return 404, map[string]any{"message": "Not Found"}
		}
		text := base64.StdEncoding.EncodeToString(data)
		return 200, map[string]any{"content": text[:len(text)/2] + "\n" + text[len(text)/2:], "encoding": "base64", "sha": parts[1]}
	case "POST trees":
		return f.makeTree(get("base_tree"), body["tree"].([]any))
	case "GET trees":
		var entries []map[string]any
		for path, blob := range f.Trees[parts[1]] {
			entries = append(entries, map[string]any{"path": path, "sha": blob, "type": "blob", "mode": "100644", "size": len(f.Blobs[blob])})
		}
		return 200, map[string]any{"sha": parts[1], "tree": entries}
	case "POST commits":
		return f.makeCommit(body)
	case "GET commits":
		c, ok := f.Commits[parts[1]]
		if !ok {
			return 404, map[string]any{"message": "Not Found"}
		}
		return 200, map[string]any{"sha": parts[1], "tree": map[string]any{"sha": c.Tree}}
	case "POST refs":
		if f.Refs[get("ref")] != "" {
			f.Conflicts++
			return 422, map[string]any{"message": "Reference already exists"}
		}
		return f.setRef(get("ref"), get("sha"), 201)
	case "PATCH refs":
		name := "refs/" + strings.Join(parts[1:], "/")
		if body["force"] != false {
			return 422, map[string]any{"message": "a forced update"}
		}
		if !slices.Contains(f.Commits[get("sha")].Parents, f.Refs[name]) {
			f.Conflicts++
			// GitHub answers with either.
			return 409 + 13*(f.Conflicts%2), map[string]any{"message": "Update is not a fast forward"}
		}
		return f.setRef(name, get("sha"), 200)
	case "GET ref":
		if f.Empty {
			return 409, map[string]any{"message": "Git Repository is empty."}
		}
		name := "refs/" + strings.Join(parts[1:], "/")
		if f.Refs[name] == "" {
			return 404, map[string]any{"message": "Not Found"}
		}
		return 200, map[string]any{"ref": name, "object": map[string]any{"sha": f.Refs[name], "type": "commit"}}
	}
	return 404, map[string]any{"message": "Not Found"}
}

func (f *Fake) setRef(name, commit string, status int) (int, any) {
	f.Refs[name] = commit
	return status, map[string]any{"ref": name, "object": map[string]any{"sha": commit}}
}

func (f *Fake) makeTree(base string, entries []any) (int, any) {
	tree := map[string]string{}
	if base != "" {
		if f.Trees[base] == nil {
			return 422, map[string]any{"message": "base_tree is not a valid tree"}
		}
		maps.Copy(tree, f.Trees[base])
	}
	for _, e := range entries {
		e := e.(map[string]any)
		path := e["path"].(string)
		if blob, ok := e["sha"].(string); ok {
			if f.Blobs[blob] == nil {
				return 422, map[string]any{"message": "tree.sha " + blob + " is not a valid blob"}
			}
			tree[path] = blob
		} else if _, ok := tree[path]; ok {
			delete(tree, path)
		} else {
			return 422, map[string]any{"message": "nothing to delete at " + path}
		}
	}
	text, _ := json.Marshal(tree)
	name := SHA("tree", string(text))
	f.Trees[name] = tree
	return 201, map[string]any{"sha": name}
}

func (f *Fake) makeCommit(body map[string]any) (int, any) {
	c := Commit{Tree: body["tree"].(string), Message: body["message"].(string)}
	parents, ok := body["parents"].([]any)
	if !ok {
		return 422, map[string]any{"message": "parents must be an array"}
	}
	for _, p := range parents {
		c.Parents = append(c.Parents, p.(string))
	}
	if f.Trees[c.Tree] == nil {
		return 422, map[string]any{"message": "Tree SHA does not exist"}
	}
	name := SHA("commit", fmt.Sprint(c, len(f.Commits)))
	f.Commits[name] = c
	return 201, map[string]any{"sha": name}
}

// Files returns the files of a branch.
func (f *Fake) Files(branch string) map[string][]byte {
	f.Lock()
	defer f.Unlock()
	files := make(map[string][]byte)
	for path, blob := range f.Trees[f.Commits[f.Refs["refs/heads/"+branch]].Tree] {
		files[path] = f.Blobs[blob]
	}
	return files
}
