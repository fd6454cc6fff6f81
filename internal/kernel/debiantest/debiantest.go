// Package debiantest provides a mirror of Debian for tests.
package debiantest

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/clearsign"
	"github.com/ProtonMail/go-crypto/openpgp/packet"

	"github.com/org/ebpf-bench-action/internal/kernel/imagetest"
)

// NewKey returns a key to sign with. Debian renews its keys every two years.
func NewKey(name string) *openpgp.Entity {
	return imagetest.Must(openpgp.NewEntity(name, "", name+"@example.com", &packet.Config{Algorithm: packet.PubKeyAlgoEdDSA}))
}

// Keyring returns the public keys as gpg writes them.
func Keyring(keys ...*openpgp.Entity) []byte {
	var b bytes.Buffer
	for _, key := range keys {
		imagetest.Check(key.Serialize(&b))
	}
	return b.Bytes()
}

// Armored returns the public keys as text.
func Armored(keys ...*openpgp.Entity) []byte {
	var b bytes.Buffer
	w := imagetest.Must(armor.Encode(&b, openpgp.PublicKeyType, nil))
	imagetest.Must(w.Write(Keyring(keys...)))
	imagetest.Check(w.Close())
	return b.Bytes()
}

// Signed returns a clear-signed text.
func Signed(text string, keys ...*openpgp.Entity) []byte {
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

// Mirror is a mirror of the suite trixie-backports, with one kernel over three packages.
type Mirror struct {
	Key     *openpgp.Entity
	Release string            // the text of InRelease, checksums aside
	Files   map[string][]byte // by path below the mirror
	Asked   atomic.Int64
}

// Expired is the line of an InRelease that has expired.
const Expired = "Valid-Until: Tue, 21 Jan 2025 00:00:00 UTC\n"

// The files of the suite trixie-backports, and the name of the index in each suite.
const (
	Index         = "main/binary-amd64/Packages.xz"
	IndexFile     = "dists/trixie-backports/" + Index
	InReleaseFile = "dists/trixie-backports/InRelease"
)

// NewMirror returns a mirror that is not signed yet.
func NewMirror() *Mirror {
	r := &Mirror{
		Key:     NewKey("archive"),
		Release: "Origin: Debian Backports\nSuite: stable-backports\nCodename: trixie-backports\nValid-Until: Sat, 01 Jan 2101 00:00:00 UTC\n",
		Files:   map[string][]byte{},
	}
	binary, base, modules := imagetest.Split()
	var index strings.Builder
	add := func(name, depends string, f imagetest.Files) {
		path, deb := "pool/main/l/linux/"+name+".deb", imagetest.Deb(f)
		r.Files[path] = deb
		fmt.Fprintf(&index, "Package: %s\nVersion: 6.12.107-1\nDepends: %s\nFilename: %s\nSize: %d\nSHA256: %s\n\n", name, depends, path, len(deb), imagetest.Sum(deb))
	}
	add("linux-image-cloud-amd64", "linux-image-"+imagetest.Release+" (= 6.12.107-1)", nil)
	add("linux-image-"+imagetest.Release, "kmod | odd, linux-base-"+imagetest.Release+" (= 1), linux-binary-"+imagetest.Release+", linux-modules-"+imagetest.Release, nil)
	add("linux-base-"+imagetest.Release, "", base)
	add("linux-binary-"+imagetest.Release, "", binary)
	add("linux-modules-"+imagetest.Release, "", modules)
	// Leftovers of superseded kernels, and other flavours.
	add("linux-image-6.12.999+deb13-cloud-amd64", "linux-modules-6.12.999+deb13-cloud-amd64", nil)
	add("linux-image-6.12.999+deb13-amd64", "", nil)
	add("linux-image-6.12.999+deb13-cloud-amd64-dbg", "", nil)
	r.Files[IndexFile] = imagetest.XZ([]byte(index.String()))
	return r
}

// InRelease returns the signed list of the indexes.
func (r *Mirror) InRelease() []byte {
	index := r.Files[IndexFile]
	return Signed(r.Release+fmt.Sprintf("SHA256:\n %s %d %s\n", imagetest.Sum(index), len(index), Index), NewKey("unknown"), r.Key)
}

// ServeHTTP serves the files.
func (r *Mirror) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	r.Asked.Add(1)
	data, ok := r.Files[strings.TrimPrefix(request.URL.Path, "/debian/")]
	if !ok {
		http.NotFound(w, request)
		return
	}
	_, _ = w.Write(data)
}

// Root serves the mirror, and returns the root of a machine whose apt is configured for it.
func (r *Mirror) Root(t *testing.T) fstest.MapFS {
	t.Helper()
	if r.Files[InReleaseFile] == nil {
		r.Files[InReleaseFile] = r.InRelease()
	}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	return RootOf(server.URL, r.Key)
}

// RootOf returns the root of a machine whose apt is configured for a mirror, and knows the
// key among others.
func RootOf(url string, key *openpgp.Entity) fstest.MapFS {
	return fstest.MapFS{
		"etc/apt/sources.list": {Data: []byte("deb [signed-by=/keys.gpg] " + url + "/debian trixie main")},
		"keys.gpg":             {Data: Keyring(NewKey("another"), key)},
	}
}

// AddSuite adds another suite with the same kernels to the mirror.
func (r *Mirror) AddSuite(name, more string) {
	index := r.Files[IndexFile]
	r.Files["dists/"+name+"/"+Index] = index
	r.Files["dists/"+name+"/InRelease"] = Signed(fmt.Sprintf(
		"Origin: Debian\nSuite: %s\n%sSHA256:\n %s %d %s\n", name, more, imagetest.Sum(index), len(index), Index), r.Key)
}
