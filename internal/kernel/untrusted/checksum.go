package untrusted

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
)

// Checksum is the size and digest that a file must have.
type Checksum struct {
	SHA256 string // in lower-case hex
	Size   int64
}

// ParseChecksum reads a SHA-256 in hex and a size in decimal.
func ParseChecksum(sum, size string) (Checksum, error) {
	n, err := strconv.ParseInt(size, 10, 64)
	if err != nil || n < 0 {
		return Checksum{}, fmt.Errorf("size reads %q", size)
	}
	if !IsSHA256(sum) {
		return Checksum{}, fmt.Errorf("SHA-256 reads %q", sum)
	}
	return Checksum{sum, n}, nil
}

// IsSHA256 reports whether s is a SHA-256 in lower-case hex.
func IsSHA256(s string) bool {
	return len(s) == 64 && !slices.ContainsFunc([]byte(s), func(c byte) bool {
		return (c < '0' || c > '9') && (c < 'a' || c > 'f')
	})
}

// Check returns an error if data does not match the checksum.
func (c Checksum) Check(data []byte) error {
	if int64(len(data)) != c.Size {
		return fmt.Errorf("%d bytes instead of %d", len(data), c.Size)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != c.SHA256 {
		return fmt.Errorf("SHA-256 is %x instead of %s", sum, c.SHA256)
	}
	return nil
}
