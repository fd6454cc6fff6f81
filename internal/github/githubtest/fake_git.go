package githubtest

import (
	"bytes"
	"crypto/sha1"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// SHA returns the name that git gives an object.
func SHA(kind, content string) string {
	h := sha1.New()
	fmt.Fprintf(h, "%s %d\x00%s", kind, len(content), content)
	return hex.EncodeToString(h.Sum(nil))
}

// ServeGit returns a handler that serves a bare repository, as prefix and paths below it, to
// clients with the token.
func ServeGit(dir, prefix, token string) (http.Handler, error) {
	path, err := exec.LookPath("git")
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"http.receivepack", "uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"} {
		if out, err := exec.Command(path, "-C", dir, "config", name, "true").CombinedOutput(); err != nil {
			return nil, fmt.Errorf("git config %s: %w: %s", name, err, out)
		}
	}
	backend := &cgi.Handler{
		Path: path, Args: []string{"http-backend"}, Root: prefix, Dir: dir,
		Env: []string{"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1"},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "basic "+base64.StdEncoding.EncodeToString([]byte("x-access-token:"+token)) {
			w.Header().Set("WWW-Authenticate", `Basic realm="GitHub"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		// CGI takes no body of unknown length.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		r.Body, r.ContentLength, r.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
		backend.ServeHTTP(w, r)
	}), nil
}

const gitPrefix = "/o/r.git"

// initGit makes the repository.
func (f *Fake) initGit() error {
	dir, err := os.MkdirTemp("", "githubtest-")
	if err != nil {
		return err
	}
	f.Origin = filepath.Join(dir, "r.git")
	if out, err := exec.Command("git", "init", "--quiet", "--bare", "--template=", f.Origin).CombinedOutput(); err != nil {
		return fmt.Errorf("git init: %w: %s", err, out)
	}
	f.backend, err = ServeGit(f.Origin, gitPrefix, Token)
	return err
}

// git serves the repository.
func (f *Fake) git(w http.ResponseWriter, r *http.Request) {
	push := strings.Contains(r.URL.RequestURI(), "git-receive-pack")
	f.Lock()
	f.Requests = append(f.Requests, r.Method+" "+r.URL.RequestURI())
	denied := f.Denied["git"]
	broken := f.Broken > 0
	if broken {
		f.Broken--
	}
	lost := push && r.Method == http.MethodPost && f.Lost > 0
	if lost {
		f.Lost--
	}
	f.Unlock()
	switch {
	case broken:
		w.WriteHeader(http.StatusBadGateway)
	case push && denied != 0:
		w.WriteHeader(denied)
		fmt.Fprint(w, "Write access to repository not granted.")
	case lost:
		f.backend.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	default:
		f.backend.ServeHTTP(w, r)
	}
}

// Git returns the output of a git command in the repository, without spaces around it.
func (f *Fake) Git(args ...string) (string, error) {
	out, err := exec.Command("git", append([]string{"--git-dir", f.Origin}, args...)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, out)
	}
	return strings.TrimSpace(string(out)), nil
}
