package debian

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/clearsign"
	"github.com/ProtonMail/go-crypto/openpgp/packet"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/kernel/untrusted"
)

// release is a suite's signed list of its indexes.
type release struct {
	origin          string
	suite, codename string
	validUntil      time.Time
	byHash          bool
	sums            map[string]untrusted.Checksum
}

// openRelease returns the suite that an InRelease file describes, if one of the keys has
// signed it and it has not expired.
func openRelease(data []byte, keys openpgp.EntityList, suite string, now time.Time) (*release, error) {
	text, err := verify(data, keys, now)
	if err != nil {
		return nil, err
	}
	r, err := parseRelease(text)
	if err != nil {
		return nil, err
	}
	// Other projects name their suites as Debian does, and their keys may be trusted too.
	if r.origin != "Debian" && r.origin != "Debian Backports" {
		return nil, fmt.Errorf("is from %q, not from Debian", r.origin)
	}
	// An old suite is also signed.
	if suite != r.suite && suite != r.codename {
		return nil, fmt.Errorf("describes suite %s (%s) instead of %s", r.codename, r.suite, suite)
	}
	if !r.validUntil.IsZero() && now.After(r.validUntil) {
		return nil, bench.WithHint(
			fmt.Errorf("expired on %s", r.validUntil.Format(time.DateOnly)),
			"the mirror is out of date, or this machine's clock is wrong")
	}
	return r, nil
}

// verify returns the signed text of a clear-signed file. Debian signs with several keys,
// and a machine may know only some of them: one good signature is enough.
func verify(data []byte, keys openpgp.EntityList, now time.Time) ([]byte, error) {
	block, _ := clearsign.Decode(data)
	if block == nil {
		return nil, errors.New("not signed")
	}
	all, err := io.ReadAll(block.ArmoredSignature.Body)
	if err != nil {
		return nil, fmt.Errorf("read signature: %w", err)
	}
	signatures, err := splitSignatures(all)
	if err != nil {
		return nil, fmt.Errorf("read signature: %w", err)
	}
	config := &packet.Config{Time: func() time.Time { return now }}
	var errs []error
	for _, signature := range signatures {
		_, err := openpgp.CheckDetachedSignature(keys, bytes.NewReader(block.Bytes), bytes.NewReader(signature), config)
		if err == nil {
			return block.Plaintext, nil
		}
		errs = append(errs, err)
	}
	return nil, fmt.Errorf("bad signature: %w", errors.Join(errs...))
}

// splitSignatures splits a signature into its packets.
func splitSignatures(all []byte) (signatures [][]byte, err error) {
	packets := packet.NewOpaqueReader(bytes.NewReader(all))
	for {
		p, err := packets.Next()
		if errors.Is(err, io.EOF) {
			return signatures, nil
		}
		if err != nil {
			return nil, err
		}
		var one bytes.Buffer
		if err := p.Serialize(&one); err != nil {
			return nil, err
		}
		signatures = append(signatures, one.Bytes())
	}
}

// parseRelease reads the text of a release file.
func parseRelease(text []byte) (*release, error) {
	s, err := parseStanza(text)
	if err != nil {
		return nil, err
	}
	r := &release{
		origin:   s["origin"],
		suite:    s["suite"],
		codename: s["codename"],
		byHash:   s["acquire-by-hash"] == "yes",
		sums:     map[string]untrusted.Checksum{},
	}
	if until, ok := s["valid-until"]; ok {
		if r.validUntil, err = time.Parse(time.RFC1123, until); err != nil {
			return nil, fmt.Errorf("read Valid-Until: %w", err)
		}
	}
	for line := range strings.Lines(s["sha256"]) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if len(words) != 3 {
			return nil, fmt.Errorf("checksum reads %q", line)
		}
		if r.sums[words[2]], err = untrusted.ParseChecksum(words[0], words[1]); err != nil {
			return nil, fmt.Errorf("checksum of %s: %w", words[2], err)
		}
	}
	return r, nil
}
