package debian

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/org/ebpf-bench-action/internal/kernel/imagetest"
)

func aptRoot(f map[string]string) fstest.MapFS {
	root := fstest.MapFS{}
	for name, text := range f {
		root[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return root
}

func TestMirrorsOfDebian(t *testing.T) {
	const sources, list = "etc/apt/sources.list.d/debian.sources", "etc/apt/sources.list"
	for name, tc := range map[string]struct {
		files map[string]string
		want  []mirror
	}{
		"a .sources file": {
			map[string]string{sources: "# as the installer wrote it\nTypes: deb deb-src\nURIs: http://a.example/debian/\nSuites: bookworm bookworm-updates\nComponents: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n" +
				"\nTypes: deb\nURIs: http://a.example/debian-security\nSuites: bookworm-security\n"},
			[]mirror{{"http://a.example/debian", "/usr/share/keyrings/debian-archive-keyring.gpg"}},
		},
		"a one-line list": {
			map[string]string{list: "# deb http://old.example/debian bookworm main\n" +
				"deb [ arch=amd64 signed-by=/k.gpg,/l.gpg ] https://b.example/debian bookworm main # ours\n" +
				"deb-src http://src.example/debian bookworm main\n" +
				"deb cdrom:[Debian]/ bookworm main\n" +
				"deb\thttp://c.example/debian bookworm-backports main"},
			[]mirror{{"https://b.example/debian", "/k.gpg /l.gpg"}, {"http://c.example/debian", ""}},
		},
		"that of the suite first": {
			map[string]string{
				list:    "deb http://a.example/debian bookworm main\ndeb http://b.example/debian bookworm main",
				sources: "Types: deb\nURIs: http://b.example/debian\nSuites: trixie\n",
			},
			[]mirror{{"http://b.example/debian", ""}, {"http://a.example/debian", ""}},
		},
		"a list of mirrors": {
			map[string]string{
				sources:                       "Types: deb\nURIs: mirror+file:///etc/apt/mirrors/debian.list\nSuites: bookworm\n",
				"etc/apt/mirrors/debian.list": "# ours first\nhttps://a.example/debian\tpriority:1\n\nhttp://b.example/debian\n",
			},
			[]mirror{{"https://a.example/debian", ""}, {"http://b.example/debian", ""}},
		},
		"others beside Debian's": {
			map[string]string{sources: "Types: deb\nURIs: http://a.example/ubuntu\nSuites: noble\n" +
				"\nTypes: deb\nURIs: http://off.example/debian\nSuites: bookworm\nEnabled: no\n" +
				"\nTypes: deb-src\nURIs: http://src.example/debian\nSuites: bookworm\n" +
				"\nTypes: deb\nURIs: http://b.example/debian\nSuites: oldstable\nEnabled: yes\n"},
			[]mirror{{"http://b.example/debian", ""}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := debianMirrors(aptRoot(tc.files), "trixie")
			if err != nil || !slices.Equal(got, tc.want) {
				t.Errorf("got %q, want %q, error %v", got, tc.want, err)
			}
		})
	}
}

func TestAptWithoutAMirrorOfDebian(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"no apt": nil,
		"Ubuntu": {"etc/apt/sources.list": "deb http://a.example/ubuntu noble main"},
	} {
		_, err := debianMirrors(aptRoot(files), "trixie")
		if err == nil {
			t.Fatalf("%s: no error", name)
		}
		imagetest.WantError(t, err, "apt is not configured for a mirror of Debian")
		imagetest.WantHint(t, err, ".deb files")
	}
}

func TestAptFilesThatAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"deb [arch=amd64 http://a.example bookworm main": "/etc/apt/sources.list: line 1: [ without ]",
		"\ndeb http://a.example":                         "/etc/apt/sources.list: line 2: neither URI nor suite",
	} {
		_, err := readApt(aptRoot(map[string]string{"etc/apt/sources.list": text}))
		imagetest.WantError(t, err, want)
	}
	for text, want := range map[string]string{
		"Types: deb\nTypes: deb\n": "field Types comes twice",
		" deb\n":                   "continues no field",
		"Types\n":                  "has no field",
	} {
		_, err := readApt(aptRoot(map[string]string{"etc/apt/sources.list.d/a.sources": text}))
		imagetest.WantError(t, err, "/etc/apt/sources.list.d/a.sources: ", want)
	}
}

func TestStanzas(t *testing.T) {
	const text = "\n \nA: 1\n# of A\nB: x\n y\n\tz\n .\n\t \r\nA: 2\r\n\n\nC:\n d"
	var got []string
	for one, err := range stanzas(strings.NewReader(text)) {
		imagetest.Check(err)
		got = append(got, fmt.Sprintf("%q", imagetest.Must(parseStanza(one))))
	}
	want := []string{`map["a":"1" "b":"x\ny\nz\n."]`, `map["a":"2"]`, `map["c":"\nd"]`}
	if !slices.Equal(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

func FuzzApt(f *testing.F) {
	f.Add([]byte("deb [signed-by=/a] http://a.example/debian trixie main # x\n"))
	f.Add([]byte("Types: deb\nURIs: http://a.example/debian\nSuites: trixie\nSigned-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, parse := range []func([]byte) ([]aptSource, error){parseAptList, parseAptSources} {
			sources, err := parse(data)
			if err != nil && len(sources) > 0 {
				t.Errorf("sources %v beside error %v", sources, err)
			}
		}
	})
}
