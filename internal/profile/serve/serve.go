// Package serve shows a profile in the browser: the pages of pprof, and what the Firefox Profiler
// asks a symbol server for, the machine code of functions.
//
// It is for one person on this machine. It listens on the loopback interface, and its address
// has a secret, as that of Jupyter: without it, other users and pages from elsewhere would read
// what was recorded, and files that only root can.
package serve

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"html"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/org/ebpf-bench-action/internal/profile"
	"github.com/org/ebpf-bench-action/internal/profile/firefox"
)

// Listen listens on an address and port of the loopback interface.
func Listen(address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%s is not an address and a port, such as 127.0.0.1:8080", address)
	}
	if ip, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("%s is not on the loopback interface: listen on 127.0.0.1 or [::1]", address)
	}
	return net.Listen("tcp", address)
}

// Server shows a profile.
type Server struct {
	// URL is where the pages are, Viewer opens the profile in the Firefox Profiler.
	URL, Viewer string

	listener net.Listener
	handler  http.Handler
	modules  []*module
	viewed   []byte // the profile for the Firefox Profiler
}

// New returns a server, which Run runs.
func New(l net.Listener, p *profile.Profile) (*Server, error) {
	s := &Server{listener: l, modules: modulesOf(p)}
	var viewed bytes.Buffer
	if err := firefox.Write(&viewed, p, firefox.Options{Source: firefox.ReadSource}); err != nil {
		return nil, err
	}
	s.viewed = viewed.Bytes()
	pages, err := s.pages(p)
	if err != nil {
		return nil, fmt.Errorf("prepare the pages of pprof: %w", err)
	}
	secret := "/" + rand.Text()
	s.URL = "http://" + l.Addr().String() + secret
	s.Viewer = "https://profiler.firefox.com/from-url/" + url.QueryEscape(s.URL+"/profile.json.gz") + "/?symbolServer=" + url.QueryEscape(s.URL)
	mux := http.NewServeMux()
	for path, page := range pages {
		mux.Handle(path, page)
	}
	mux.HandleFunc("/source", s.source)
	mux.HandleFunc("GET /profile.json.gz", shared(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/gzip")
		_, _ = w.Write(s.viewed) // whoever asked may be gone
	}))
	mux.HandleFunc("POST /asm/v1", shared(s.asm))
	preflight := shared(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Access-Control-Allow-Methods", "GET, POST")
		w.Header().Set("Access-Control-Allow-Headers", "Content-Type")
		w.Header().Set("Access-Control-Allow-Private-Network", "true")
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("OPTIONS /asm/v1", preflight)
	mux.HandleFunc("OPTIONS /profile.json.gz", preflight)
	s.handler = http.StripPrefix(secret, mux)
	return s, nil
}

// shared lets pages from elsewhere, such as the viewer, read the answer.
func shared(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		h(w, r)
	}
}

// source is in the place of the page of pprof, which would open whatever file a binary names,
// with the rights of this process.
func (s *Server) source(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, `<!DOCTYPE html><title>Source</title><p>The source is in the <a href="%s">Firefox Profiler</a>: double-click a function there.`, html.EscapeString(s.Viewer))
}

// patience is how long a connection may take to ask for something.
const patience = 10 * time.Second

// Run serves until the context is done.
func (s *Server) Run(ctx context.Context) error { return s.run(ctx, patience) }

func (s *Server) run(ctx context.Context, patience time.Duration) error {
	server := &http.Server{Handler: s.handler, ReadTimeout: patience}
	// Other users of the machine can connect, and would keep what they open.
	server.SetKeepAlivesEnabled(false)
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	err := server.Serve(s.listener)
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	for _, m := range s.modules {
		err = errors.Join(err, m.close())
	}
	return err
}

// at returns the module at a path, or nil.
func (s *Server) at(path string) *module {
	for _, m := range s.modules {
		if m.path == path {
			return m
		}
	}
	return nil
}
