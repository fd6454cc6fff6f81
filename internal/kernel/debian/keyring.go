package debian

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/ProtonMail/go-crypto/openpgp"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/kernel/untrusted"
)

const armoredKey = "-----BEGIN PGP PUBLIC KEY BLOCK-----"

// readKeyring returns the keys that a source's Signed-By trusts: files, a key in the field
// itself, or fingerprints of keys that apt trusts anyway. Without Signed-By, apt trusts
// its own keyrings, to which readKeyring adds the one of Debian's package.
func readKeyring(root fs.FS, signedBy string) (openpgp.EntityList, error) {
	if strings.Contains(signedBy, armoredKey) {
		return parseKeys([]byte(unindent(signedBy)))
	}
	var files, fingerprints []string
	for _, word := range strings.Fields(signedBy) {
		if path.IsAbs(word) {
			files = append(files, word[1:])
		} else {
			fingerprints = append(fingerprints, strings.TrimSuffix(word, "!"))
		}
	}
	if len(files) == 0 {
		var err error
		if files, err = defaultKeyrings(root); err != nil {
			return nil, err
		}
	}
	var keys openpgp.EntityList
	for _, file := range files {
		found, err := readKeys(root, file)
		if err != nil {
			return nil, err
		}
		keys = append(keys, found...)
	}
	if len(fingerprints) > 0 {
		keys = slices.DeleteFunc(keys, func(e *openpgp.Entity) bool { return !hasFingerprint(e, fingerprints) })
	}
	if len(keys) == 0 {
		return nil, bench.WithHint(
			errors.New("no keys to verify Debian's signature with"),
			"install the package debian-archive-keyring")
	}
	return keys, nil
}

func defaultKeyrings(root fs.FS) (files []string, err error) {
	for _, pattern := range []string{
		"usr/share/keyrings/debian-archive-keyring.gpg",
		path.Join(aptDir, "trusted.gpg"),
		path.Join(aptDir, "trusted.gpg.d/*.gpg"),
		path.Join(aptDir, "trusted.gpg.d/*.asc"),
	} {
		found, err := fs.Glob(root, pattern)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	return files, nil
}

func readKeys(root fs.FS, file string) (openpgp.EntityList, error) {
	data, err := untrusted.ReadFile(root, file, untrusted.MaxText)
	if err != nil {
		return nil, fmt.Errorf("read keyring: %w", err)
	}
	keys, err := parseKeys(data)
	if err != nil {
		return nil, fmt.Errorf("read keyring /%s: %w", file, err)
	}
	return keys, nil
}

func parseKeys(data []byte) (openpgp.EntityList, error) {
	if bytes.Contains(data, []byte(armoredKey)) {
		return openpgp.ReadArmoredKeyRing(bytes.NewReader(data))
	}
	return openpgp.ReadKeyRing(bytes.NewReader(data))
}

// unindent turns the lines of a field back into those of a file. The field writes an empty
// line as a dot.
func unindent(field string) string {
	lines := strings.Split(field, "\n")
	for i, line := range lines {
		if line == "." {
			lines[i] = ""
		}
	}
	return strings.Join(lines, "\n")
}

// hasFingerprint reports whether the key or one of its subkeys has one of the
// fingerprints.
func hasFingerprint(e *openpgp.Entity, fingerprints []string) bool {
	is := func(fingerprint []byte) bool {
		return slices.ContainsFunc(fingerprints, func(want string) bool {
			return strings.EqualFold(hex.EncodeToString(fingerprint), want)
		})
	}
	return is(e.PrimaryKey.Fingerprint) || slices.ContainsFunc(e.Subkeys, func(s openpgp.Subkey) bool {
		return is(s.PublicKey.Fingerprint)
	})
}
