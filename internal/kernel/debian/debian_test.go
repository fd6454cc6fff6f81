package debian

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"

	"github.com/org/ebpf-bench-action/internal/kernel/debiantest"
	"github.com/org/ebpf-bench-action/internal/kernel/imagetest"
	"github.com/org/ebpf-bench-action/internal/kernel/untrusted"
)

// archiveOf returns the archive as a machine's apt is configured for it.
func archiveOf(t *testing.T, r *debiantest.Mirror) Archive {
	t.Helper()
	return Archive{Arch: "amd64", Root: r.Root(t)}
}

// fetched returns the packages of the kernel that was found.
func fetched(t *testing.T, k *Kernel, err error) (debs []string, _ error) {
	t.Helper()
	if err != nil {
		return nil, err
	}
	return debs, k.Fetch(t.Context(), func(deb io.Reader) error {
		data, err := io.ReadAll(deb)
		debs = append(debs, string(data))
		return err
	})
}

// wantKernel checks that a kernel is the mirror's, of that suite.
func wantKernel(t *testing.T, r *debiantest.Mirror, suite string, k *Kernel, err error) {
	t.Helper()
	debs, err := fetched(t, k, err)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, part := range []string{"image", "base", "binary", "modules"} {
		want = append(want, string(r.Files[fmt.Sprintf("pool/main/l/linux/linux-%s-%s.deb", part, imagetest.Release)]))
	}
	if !slices.Equal(debs, want) {
		t.Errorf("got %d packages, or others than linux-{image,base,binary,modules}-%s", len(debs), imagetest.Release)
	}
	if want := "Debian " + suite + ", linux-image-" + imagetest.Release + " 6.12.107-1"; k.Origin() != want {
		t.Errorf("origin is %q", k.Origin())
	}
}

func TestAKernelOfADebianSuite(t *testing.T) {
	for name, release := range map[string]string{
		"by name": "",
		"by hash": "Acquire-By-Hash: yes\n",
	} {
		t.Run(name, func(t *testing.T) {
			r := debiantest.NewMirror()
			r.Release += release
			if release != "" {
				index := r.Files[debiantest.IndexFile]
				r.Files[debiantest.InReleaseFile] = r.InRelease()
				delete(r.Files, debiantest.IndexFile)
				r.Files["dists/trixie-backports/main/binary-amd64/by-hash/SHA256/"+imagetest.Sum(index)] = index
			}
			k, err := archiveOf(t, r).Find(t.Context(), "trixie-backports")
			wantKernel(t, r, "trixie-backports", k, err)
		})
	}
}

func TestAKernelOfADebianSuiteByVersion(t *testing.T) {
	r := debiantest.NewMirror()
	a := archiveOf(t, r)
	// The newest image lacks its modules.
	k, err := a.findVersion(t.Context(), "trixie-backports", "6.12")
	wantKernel(t, r, "trixie-backports", k, err)

	_, err = a.findVersion(t.Context(), "trixie-backports", "6.1")
	imagetest.WantError(t, err, "get kernel of Debian trixie-backports: no kernel 6.1, only 6.12")

	a.Arch = "arm64"
	_, err = a.Find(t.Context(), "trixie-backports")
	imagetest.WantError(t, err, "suite has no main/binary-arm64/Packages.xz")
}

func TestRepositoriesThatAreRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		edit func(r *debiantest.Mirror)
		want string
	}{
		"another key": {func(r *debiantest.Mirror) {
			r.Files[debiantest.InReleaseFile] = debiantest.Signed(r.Release, debiantest.NewKey("stranger"))
		}, "InRelease: bad signature: openpgp: signature made by unknown entity"},
		"another text": {func(r *debiantest.Mirror) {
			r.Files[debiantest.InReleaseFile] = bytes.Replace(r.InRelease(), []byte("SHA256:\n "), []byte("SHA256:\n f"), 1)
		}, "InRelease: bad signature"},
		"no signature": {func(r *debiantest.Mirror) { r.Files[debiantest.InReleaseFile] = []byte(r.Release) }, "InRelease: not signed"},
		"text around": {func(r *debiantest.Mirror) {
			r.Files[debiantest.InReleaseFile] = append([]byte("Codename: trixie\n"), debiantest.Signed("Origin: Debian\n", r.Key)...)
		}, `describes suite  () instead of trixie-backports`},
		"an older suite": {func(r *debiantest.Mirror) {
			r.Release = "Origin: Debian\nSuite: oldstable\nCodename: bookworm\n"
		}, "describes suite bookworm (oldstable) instead of trixie-backports"},
		"of another project": {func(r *debiantest.Mirror) {
			r.Release = "Origin: Docker\nSuite: trixie-backports\n"
		}, `is from "Docker", not from Debian`},
		"expired": {func(r *debiantest.Mirror) {
			r.Release = strings.Replace(r.Release, "Sat, 01 Jan 2101", "Tue, 21 Jan 2025", 1)
		}, "expired on 2025-01-21"},
		"a damaged index": {func(r *debiantest.Mirror) {
			r.Files[debiantest.InReleaseFile] = r.InRelease()
			r.Files[debiantest.IndexFile][50]++
		}, debiantest.Index + ": SHA-256 is"},
		"a longer index": {func(r *debiantest.Mirror) {
			r.Files[debiantest.InReleaseFile] = r.InRelease()
			r.Files[debiantest.IndexFile] = append(r.Files[debiantest.IndexFile], 0)
		}, debiantest.Index + ": larger than"},
		"a damaged package": {func(r *debiantest.Mirror) {
			r.Files["pool/main/l/linux/linux-modules-"+imagetest.Release+".deb"][50]++
		}, "linux-modules-" + imagetest.Release + ".deb: SHA-256 is"},
		"a package cut short": {func(r *debiantest.Mirror) {
			name := "pool/main/l/linux/linux-binary-" + imagetest.Release + ".deb"
			r.Files[name] = r.Files[name][:100]
		}, ".deb: 100 bytes instead of"},
		"a package that is missing": {func(r *debiantest.Mirror) {
			delete(r.Files, "pool/main/l/linux/linux-base-"+imagetest.Release+".deb")
		}, ".deb: 404 Not Found"},
	} {
		t.Run(name, func(t *testing.T) {
			r := debiantest.NewMirror()
			tc.edit(r)
			k, err := archiveOf(t, r).Find(t.Context(), "trixie-backports")
			_, err = fetched(t, k, err)
			imagetest.WantError(t, err, "get kernel of Debian trixie-backports: ", tc.want)
		})
	}
}

func TestASuiteThatTheMirrorLacks(t *testing.T) {
	_, err := archiveOf(t, debiantest.NewMirror()).Find(t.Context(), "bullseye")
	imagetest.WantError(t, err, "get kernel of Debian bullseye", "/dists/bullseye/InRelease: 404 Not Found")
	imagetest.WantHint(t, err, "no such suite")
}

func TestTheNextMirrorIsAsked(t *testing.T) {
	stranger := debiantest.NewMirror()
	stranger.Release = strings.Replace(stranger.Release, "Debian Backports", "Stranger", 1)
	r := debiantest.NewMirror()
	root, other := r.Root(t), stranger.Root(t)
	list := root["etc/apt/sources.list"]
	// The other project's own key has signed it.
	root["other.gpg"] = &fstest.MapFile{Data: debiantest.Keyring(stranger.Key)}
	line := bytes.ReplaceAll(other["etc/apt/sources.list"].Data, []byte("/keys.gpg"), []byte("/other.gpg"))
	list.Data = append(append(line, '\n'), list.Data...)

	k, err := Archive{Arch: "amd64", Root: root}.Find(t.Context(), "trixie-backports")
	wantKernel(t, r, "trixie-backports", k, err)
	if stranger.Asked.Load() != 1 {
		t.Errorf("the other project was asked %d times", stranger.Asked.Load())
	}
}

func TestKeysThatAptTrusts(t *testing.T) {
	key, other := debiantest.NewKey("archive"), debiantest.NewKey("other")
	fingerprint := fmt.Sprintf("%X", key.PrimaryKey.Fingerprint)
	root := func(name string, data []byte) fstest.MapFS { return fstest.MapFS{name: {Data: data}} }
	for name, tc := range map[string]struct {
		root     fstest.MapFS
		signedBy string
		want     int
	}{
		"a file":               {root("keys.gpg", debiantest.Keyring(key, other)), "/keys.gpg", 2},
		"an armored file":      {root("keys.asc", debiantest.Armored(key, other)), "/keys.asc", 2},
		"in the field":         {nil, "\n" + strings.ReplaceAll(string(debiantest.Armored(key)), "\n\n", "\n.\n"), 1},
		"a fingerprint":        {root("etc/apt/trusted.gpg.d/a.gpg", debiantest.Keyring(other, key)), fingerprint + "!", 1},
		"apt's own, binary":    {root("etc/apt/trusted.gpg.d/a.gpg", debiantest.Keyring(key)), "", 1},
		"apt's own, armored":   {root("etc/apt/trusted.gpg.d/a.asc", debiantest.Armored(key)), "", 1},
		"those of the package": {root("usr/share/keyrings/debian-archive-keyring.gpg", debiantest.Keyring(key)), "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			keys, err := readKeyring(tc.root, tc.signedBy)
			if err != nil || len(keys) != tc.want || tc.want == 1 && keys[0].PrimaryKey.KeyId != key.PrimaryKey.KeyId {
				t.Errorf("got %d keys, error %v", len(keys), err)
			}
		})
	}

	_, err := readKeyring(fstest.MapFS{}, "")
	imagetest.WantError(t, err, "no keys to verify Debian's signature with")
	imagetest.WantHint(t, err, "debian-archive-keyring")
	_, err = readKeyring(fstest.MapFS{}, "/nope.gpg")
	imagetest.WantError(t, err, "read keyring", "nope.gpg")
	_, err = readKeyring(root("a.gpg", []byte("no key")), "/a.gpg")
	imagetest.WantError(t, err, "read keyring /a.gpg")
}

func FuzzRelease(f *testing.F) {
	f.Add([]byte("Suite: stable\nValid-Until: Sat, 01 Jan 2101 00:00:00 UTC\nSHA256:\n " + imagetest.Sum(nil) + " 0 main/a\n"))
	f.Add(debiantest.NewMirror().InRelease())
	keys := openpgp.EntityList{debiantest.NewKey("archive")}
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := openRelease(data, keys, "stable", time.Now()); err == nil {
			t.Error("no key has signed that")
		}
		r, err := parseRelease(data)
		if err != nil {
			return
		}
		for name, sum := range r.sums {
			if name == "" || sum.Size < 0 || !untrusted.IsSHA256(sum.SHA256) {
				t.Errorf("%q: %v", name, sum)
			}
		}
	})
}

func FuzzPackages(f *testing.F) {
	f.Add("Package: linux-image-cloud-amd64\nVersion: 1\nDepends: linux-image-6.1-cloud-amd64 | a, b (= 1)\nFilename: pool/a.deb\nSize: 1\nSHA256: " + imagetest.Sum(nil) + "\n")
	f.Fuzz(func(t *testing.T, text string) {
		index, err := parsePackages(strings.NewReader(text), "cloud-amd64")
		if err != nil {
			return
		}
		for name, p := range index {
			if name != p.name || strings.Contains(p.file, "..") && strings.Contains("/"+p.file+"/", "/../") {
				t.Errorf("%q: %v", name, p)
			}
		}
		index.kernel("cloud-amd64", "") // it must only not panic
	})
}
