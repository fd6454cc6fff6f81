package serve

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"net/http"
	"regexp"
	"time"

	"github.com/google/pprof/driver"
	pprof "github.com/google/pprof/profile"

	"github.com/org/ebpf-bench-action/internal/profile"
)

// pages returns the pages of pprof, by their paths.
func (s *Server) pages(p *profile.Profile) (pages map[string]http.Handler, err error) {
	var data bytes.Buffer
	if err := p.WritePprof(&data); err != nil {
		return nil, err
	}
	parsed, err := pprof.Parse(&data)
	if err != nil {
		return nil, err
	}
	err = driver.PProf(&driver.Options{
		Flagset: &flags{FlagSet: flag.NewFlagSet("pprof", flag.ContinueOnError), args: []string{"-http=127.0.0.1:0", "-no_browser", "-symbolize=none", "profile"}},
		Fetch:   fetcher{parsed}, Sym: named{}, Obj: objects{s}, UI: silent{},
		HTTPServer: func(args *driver.HTTPServerArgs) error { pages = args.Handlers; return nil },
	})
	delete(pages, "/source") // see Server.source
	// They write to a file in the home folder, which may be that of another user.
	delete(pages, "/saveconfig")
	delete(pages, "/deleteconfig")
	// A bare "/" would be every path that there is no page for.
	if root := pages["/"]; root != nil {
		delete(pages, "/")
		pages["/{$}"] = root
	}
	return pages, err
}

// flags are the flags of pprof.
type flags struct {
	*flag.FlagSet
	args []string
}

func (f *flags) StringList(name, value, usage string) *[]*string {
	return &[]*string{f.String(name, value, usage)}
}

func (f *flags) ExtraUsage() string   { return "" }
func (f *flags) AddExtraUsage(string) {}

func (f *flags) Parse(usage func()) []string {
	f.Usage = usage
	if f.FlagSet.Parse(f.args) != nil {
		return nil
	}
	return f.Args()
}

type fetcher struct{ *pprof.Profile }

func (f fetcher) Fetch(string, time.Duration, time.Duration) (*pprof.Profile, string, error) {
	return f.Profile, "", nil
}

// named leaves the names of functions as they are.
type named struct{}

func (named) Symbolize(string, driver.MappingSources, *pprof.Profile) error { return nil }

// silent is a person whom pprof tells nothing: what it has to say is on its pages.
type silent struct{}

func (silent) ReadLine(string) (string, error)     { return "", io.EOF }
func (silent) Print(...any)                        {}
func (silent) PrintErr(...any)                     {}
func (silent) IsTerminal() bool                    { return false }
func (silent) WantBrowser() bool                   { return false }
func (silent) SetAutoComplete(func(string) string) {}

// objects lets pprof read the modules of the profile, and no other files. Its own would run
// objdump and others.
type objects struct{ *Server }

func (o objects) Open(path string, _, _, _ uint64, _ string) (driver.ObjFile, error) {
	if m := o.at(path); m != nil {
		return &object{m}, nil
	}
	return nil, errors.New(path + " is not in the profile")
}

func (o objects) Disasm(path string, start, end uint64, _ bool) ([]driver.Inst, error) {
	m := o.at(path)
	if m == nil {
		return nil, errors.New(path + " is not in the profile")
	}
	all, _, _, err := m.disassemble(start, end)
	if err != nil { // of this module: the page has others, too
		return []driver.Inst{{Addr: start, Text: err.Error()}}, nil
	}
	out := make([]driver.Inst, len(all))
	for i, in := range all {
		out[i] = driver.Inst{Addr: start + uint64(in.offset), Text: in.text}
		if b, err := m.open(); err == nil {
			if frames := b.Frames(out[i].Addr); len(frames) > 0 {
				out[i].Function, out[i].File, out[i].Line = frames[0].Func, frames[0].File, frames[0].Line
			}
		}
	}
	return out, nil
}

// object is a module as pprof sees it. Addresses of the profile are those in the file.
type object struct{ *module }

func (o *object) Name() string                        { return o.path }
func (o *object) ObjAddr(addr uint64) (uint64, error) { return addr, nil }
func (o *object) BuildID() string                     { return o.buildID }
func (o *object) Close() error                        { return nil } // Run closes it

func (o *object) SourceLine(addr uint64) (out []driver.Frame, err error) {
	b, err := o.open()
	if err != nil {
		return nil, err
	}
	for _, f := range b.Frames(addr) {
		out = append(out, driver.Frame{Func: f.Func, File: f.File, Line: f.Line})
	}
	return out, nil
}

// Symbols returns the functions with samples that have a name or an address.
func (o *object) Symbols(name *regexp.Regexp, addr uint64) (out []*driver.Sym, err error) {
	for _, f := range o.functions {
		if name == nil || name.MatchString(f.name) || addr >= f.start && addr < f.end {
			out = append(out, &driver.Sym{Name: []string{f.name}, File: o.path, Start: f.start, End: f.end - 1})
		}
	}
	return out, nil
}
