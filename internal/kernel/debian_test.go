package kernel

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/clearsign"
	"github.com/ProtonMail/go-crypto/openpgp/packet"

	"github.com/org/ebpf-bench-action/internal/kernel/imagetest"
	"github.com/org/ebpf-bench-action/internal/kernel/untrusted"
)

// newKey is a key to sign with. Debian's are made anew every two years.
func newKey(name string) *openpgp.Entity {
	return imagetest.Must(openpgp.NewEntity(name, "", name+"@example.com", &packet.Config{Algorithm: packet.PubKeyAlgoEdDSA}))
}

func keyring(keys ...*openpgp.Entity) []byte {
	var b bytes.Buffer
	for _, key := range keys {
		imagetest.Check(key.Serialize(&b))
	}
	return b.Bytes()
}

func armored(keys ...*openpgp.Entity) []byte {
	var b bytes.Buffer
	w := imagetest.Must(armor.Encode(&b, openpgp.PublicKeyType, nil))
	imagetest.Must(w.Write(keyring(keys...)))
	imagetest.Check(w.Close())
	return b.Bytes()
}

func signed(text string, keys ...*openpgp.Entity) []byte {
	var private []*packet.PrivateKey
	for _, key := range keys {
		private = append(private, key.PrivateKey)
	}
	var b bytes.Buffer
	w := imagetest.Must(clearsign.EncodeMulti(&b, private, nil))
	imagetest.Must(w.Write([]byte(text)))
	imagetest.Check(w.Close())
	return b.Bytes()
}

// testRepository is a mirror of a suite with one kernel over three packages.
type testRepository struct {
	key     *openpgp.Entity
	release string            // the text of InRelease, checksums aside
	files   map[string][]byte // by path below the mirror
	asked   atomic.Int64
}

const testIndex = "main/binary-amd64/Packages.xz"

func newRepository() *testRepository {
	r := &testRepository{
		key:     newKey("archive"),
		release: "Origin: Debian Backports\nSuite: stable-backports\nCodename: trixie-backports\nValid-Until: Sat, 01 Jan 2101 00:00:00 UTC\n",
		files:   map[string][]byte{},
	}
	binary, base, modules := imagetest.Split()
	var index strings.Builder
	add := func(name, depends string, f imagetest.Files) {
		path, deb := "pool/main/l/linux/"+name+".deb", imagetest.Deb(f)
		r.files[path] = deb
		fmt.Fprintf(&index, "Package: %s\nVersion: 6.12.107-1\nDepends: %s\nFilename: %s\nSize: %d\nSHA256: %s\n\n", name, depends, path, len(deb), imagetest.Sum(deb))
	}
	add("linux-image-cloud-amd64", "linux-image-"+imagetest.Release+" (= 6.12.107-1)", nil)
	add("linux-image-"+imagetest.Release, "kmod | odd, linux-base-"+imagetest.Release+" (= 1), linux-binary-"+imagetest.Release+", linux-modules-"+imagetest.Release, nil)
	add("linux-base-"+imagetest.Release, "", base)
	add("linux-binary-"+imagetest.Release, "", binary)
	add("linux-modules-"+imagetest.Release, "", modules)
	// What superseded kernels leave behind, and other flavours.
	add("linux-image-6.12.999+deb13-cloud-amd64", "linux-modules-6.12.999+deb13-cloud-amd64", nil)
	add("linux-image-6.12.999+deb13-amd64", "", nil)
	add("linux-image-6.12.999+deb13-cloud-amd64-dbg", "", nil)
	r.files["dists/trixie-backports/"+testIndex] = imagetest.XZ([]byte(index.String()))
	return r
}

// inRelease is the signed list of the indexes.
func (r *testRepository) inRelease() []byte {
	index := r.files["dists/trixie-backports/"+testIndex]
	return signed(r.release+fmt.Sprintf("SHA256:\n %s %d %s\n", imagetest.Sum(index), len(index), testIndex), newKey("unknown"), r.key)
}

func (r *testRepository) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	r.asked.Add(1)
	data, ok := r.files[strings.TrimPrefix(request.URL.Path, "/debian/")]
	if !ok {
		http.NotFound(w, request)
		return
	}
	w.Write(data)
}

// debian is the suite at the mirror, as a machine's apt is configured for it.
func (r *testRepository) debian(t *testing.T) Debian {
	t.Helper()
	if r.files["dists/trixie-backports/InRelease"] == nil {
		r.files["dists/trixie-backports/InRelease"] = r.inRelease()
	}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	return Debian{Suite: "trixie-backports", Arch: "amd64", Root: fstest.MapFS{
		"etc/apt/sources.list": {Data: []byte("deb [signed-by=/keys.gpg] " + server.URL + "/debian trixie main")},
		"keys.gpg":             {Data: keyring(newKey("another"), r.key)},
	}}
}

func TestAKernelOfADebianSuite(t *testing.T) {
	for name, release := range map[string]string{
		"by name": "",
		"by hash": "Acquire-By-Hash: yes\n",
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepository()
			r.release += release
			if release != "" {
				index := r.files["dists/trixie-backports/"+testIndex]
				r.files["dists/trixie-backports/InRelease"] = r.inRelease()
				delete(r.files, "dists/trixie-backports/"+testIndex)
				r.files["dists/trixie-backports/main/binary-amd64/by-hash/SHA256/"+imagetest.Sum(index)] = index
			}
			k, err := r.debian(t).Fetch(t.Context())
			wantTestKernel(t, k, err)
			if want := "Debian trixie-backports, linux-image-" + imagetest.Release + " 6.12.107-1"; k.Origin != want {
				t.Errorf("origin is %q", k.Origin)
			}
		})
	}
}

func TestAKernelOfADebianSuiteByVersion(t *testing.T) {
	d := newRepository().debian(t)
	// The newest image lacks its modules.
	d.Version = "6.12"
	k, err := d.Fetch(t.Context())
	wantTestKernel(t, k, err)

	d.Version = "6.1"
	_, err = d.Fetch(t.Context())
	imagetest.WantError(t, err, "get kernel of Debian trixie-backports: no kernel 6.1, only 6.12")

	d.Version, d.Arch = "", "arm64"
	_, err = d.Fetch(t.Context())
	imagetest.WantError(t, err, "suite has no main/binary-arm64/Packages.xz")
}

func TestRepositoriesThatAreRefused(t *testing.T) {
	const inRelease = "dists/trixie-backports/InRelease"
	for name, tc := range map[string]struct {
		edit func(r *testRepository)
		want string
	}{
		"another key": {func(r *testRepository) {
			r.files[inRelease] = signed(r.release, newKey("stranger"))
		}, "InRelease: bad signature: openpgp: signature made by unknown entity"},
		"another text": {func(r *testRepository) {
			r.files[inRelease] = bytes.Replace(r.inRelease(), []byte("SHA256:\n "), []byte("SHA256:\n f"), 1)
		}, "InRelease: bad signature"},
		"no signature": {func(r *testRepository) { r.files[inRelease] = []byte(r.release) }, "InRelease: not signed"},
		"text around": {func(r *testRepository) {
			r.files[inRelease] = append([]byte("Codename: trixie\n"), signed("Origin: Debian\n", r.key)...)
		}, `describes suite  () instead of trixie-backports`},
		"an older suite": {func(r *testRepository) {
			r.release = "Origin: Debian\nSuite: oldstable\nCodename: bookworm\n"
		}, "describes suite bookworm (oldstable) instead of trixie-backports"},
		"of another project": {func(r *testRepository) {
			r.release = "Origin: Docker\nSuite: trixie-backports\n"
		}, `is of "Docker", not of Debian`},
		"expired": {func(r *testRepository) {
			r.release = strings.Replace(r.release, "Sat, 01 Jan 2101", "Tue, 21 Jan 2025", 1)
		}, "expired on 2025-01-21"},
		"a damaged index": {func(r *testRepository) {
			r.files[inRelease] = r.inRelease()
			r.files["dists/trixie-backports/"+testIndex][50]++
		}, testIndex + ": SHA-256 is"},
		"a longer index": {func(r *testRepository) {
			r.files[inRelease] = r.inRelease()
			r.files["dists/trixie-backports/"+testIndex] = append(r.files["dists/trixie-backports/"+testIndex], 0)
		}, testIndex + ": larger than"},
		"a damaged package": {func(r *testRepository) {
			r.files["pool/main/l/linux/linux-modules-"+imagetest.Release+".deb"][50]++
		}, "linux-modules-" + imagetest.Release + ".deb: SHA-256 is"},
		"a package cut short": {func(r *testRepository) {
			name := "pool/main/l/linux/linux-binary-" + imagetest.Release + ".deb"
			r.files[name] = r.files[name][:100]
		}, ".deb: 100 bytes instead of"},
		"a package that is missing": {func(r *testRepository) {
			delete(r.files, "pool/main/l/linux/linux-base-"+imagetest.Release+".deb")
		}, ".deb: 404 Not Found"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepository()
			tc.edit(r)
			_, err := r.debian(t).Fetch(t.Context())
			imagetest.WantError(t, err, "get kernel of Debian trixie-backports: ", tc.want)
		})
	}
}

func TestASuiteThatTheMirrorLacks(t *testing.T) {
	d := newRepository().debian(t)
	d.Suite = "bullseye"
	_, err := d.Fetch(t.Context())
	imagetest.WantError(t, err, "get kernel of Debian bullseye", "/dists/bullseye/InRelease: 404 Not Found")
	imagetest.WantHint(t, err, "no such suite")
}

func TestTheNextMirrorIsAsked(t *testing.T) {
	stranger := newRepository()
	stranger.release = strings.Replace(stranger.release, "Debian Backports", "Stranger", 1)
	d, other := newRepository().debian(t), stranger.debian(t)
	root := d.Root.(fstest.MapFS)
	list := root["etc/apt/sources.list"]
	// The other project's own key has signed it.
	root["other.gpg"] = &fstest.MapFile{Data: keyring(stranger.key)}
	line := bytes.ReplaceAll(other.Root.(fstest.MapFS)["etc/apt/sources.list"].Data, []byte("/keys.gpg"), []byte("/other.gpg"))
	list.Data = append(append(line, '\n'), list.Data...)

	k, err := d.Fetch(t.Context())
	wantTestKernel(t, k, err)
	if stranger.asked.Load() != 1 {
		t.Errorf("the other project was asked %d times", stranger.asked.Load())
	}
}

func TestKeysThatAptTrusts(t *testing.T) {
	key, other := newKey("archive"), newKey("other")
	fingerprint := fmt.Sprintf("%X", key.PrimaryKey.Fingerprint)
	root := func(name string, data []byte) fstest.MapFS { return fstest.MapFS{name: {Data: data}} }
	for name, tc := range map[string]struct {
		root     fstest.MapFS
		signedBy string
		want     int
	}{
		"a file":               {root("keys.gpg", keyring(key, other)), "/keys.gpg", 2},
		"an armored file":      {root("keys.asc", armored(key, other)), "/keys.asc", 2},
		"in the field":         {nil, "\n" + strings.ReplaceAll(string(armored(key)), "\n\n", "\n.\n"), 1},
		"a fingerprint":        {root("etc/apt/trusted.gpg.d/a.gpg", keyring(other, key)), fingerprint + "!", 1},
		"apt's own, binary":    {root("etc/apt/trusted.gpg.d/a.gpg", keyring(key)), "", 1},
		"apt's own, armored":   {root("etc/apt/trusted.gpg.d/a.asc", armored(key)), "", 1},
		"those of the package": {root("usr/share/keyrings/debian-archive-keyring.gpg", keyring(key)), "", 1},
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

func TestAMirrorThatFailsForAMoment(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, "here")
	}))
	defer server.Close()
	got, err := fetch(t.Context(), server.Client(), server.URL, 4, unseen{}.Have)
	if err != nil || string(got) != "here" || asked != 2 {
		t.Errorf("got %q after asking %d times, error %v", got, asked, err)
	}
	_, err = fetch(t.Context(), server.Client(), server.URL, 3, unseen{}.Have)
	imagetest.WantError(t, err, "fetch "+server.URL, "larger than")
}

func FuzzRelease(f *testing.F) {
	f.Add([]byte("Suite: stable\nValid-Until: Sat, 01 Jan 2101 00:00:00 UTC\nSHA256:\n " + imagetest.Sum(nil) + " 0 main/a\n"))
	f.Add(newRepository().inRelease())
	keys := openpgp.EntityList{newKey("archive")}
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
