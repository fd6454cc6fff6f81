package untrusted

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/kernel/imagetest"
)

func TestDecompress(t *testing.T) {
	text := []byte(strings.Repeat("kernel ", 100))
	// Calls to one function, each from another distance.
	var code []byte
	for i := range 200 {
		code = binary.LittleEndian.AppendUint32(append(code, 0xe8), uint32(int32(1000-5*(i+1))))
	}
	for name, tc := range map[string]struct {
		packed string
		want   []byte
	}{
		"bzip2": {"425a6839314159265359c766434d0000c791804000020d1000200030c00295191845a45a45845a45e22e117c5dc914e142431d990d34", text},
		// The kernel compresses itself with this filter on x86.
		"xz with the filter for x86": {"fd377a585a0000016922de3602010400210110008b216f49e003e7000f5d00746008018b3e3263fe0ff4d019250000007545e92c000127e807000000f4558f5c3e300d8b020000000001595a", code},
		"gzip":                       {hex.EncodeToString(imagetest.Gzip(text)), text},
		"zstd":                       {hex.EncodeToString(imagetest.Zstd(text)), text},
		"xz":                         {hex.EncodeToString(imagetest.XZ(text)), text},
		"LZMA":                       {hex.EncodeToString(imagetest.LZMA(text)), text},
		"LZ4":                        {hex.EncodeToString(imagetest.LZ4(text)), text},
	} {
		t.Run(name, func(t *testing.T) {
			packed := imagetest.Must(hex.DecodeString(tc.packed))
			got, err := Decompress(packed, int64(len(tc.want)))
			if err != nil || !bytes.Equal(got, tc.want) {
				t.Errorf("got %q, error %v", got, err)
			}
			_, err = Decompress(packed, int64(len(tc.want))-1)
			imagetest.WantError(t, err, "larger than")
			for n := range packed {
				if _, err := Decompress(packed[:n], MaxImage); err == nil {
					t.Errorf("%d of %d bytes: no error", n, len(packed))
				}
			}
		})
	}
}

func TestABombIsNotUnpacked(t *testing.T) {
	_, err := Decompress(imagetest.Zstd(make([]byte, 64<<20)), 1<<20)
	imagetest.WantError(t, err, "larger than the 1 MiB that are plausible")
}

func TestADictionaryIsNotAllocatedForAHeaderAlone(t *testing.T) {
	packed := imagetest.LZMA([]byte("kernel"))
	binary.LittleEndian.PutUint32(packed[1:], 1<<30)
	_, err := Decompress(packed, 1<<20)
	imagetest.WantError(t, err, "its dictionary: larger than the 256 MiB that are plausible")
}

func FuzzDecompress(f *testing.F) {
	text := []byte(strings.Repeat("kernel ", 100))
	for _, compress := range []func([]byte) []byte{imagetest.Gzip, imagetest.Zstd, imagetest.XZ, imagetest.LZMA, imagetest.LZ4} {
		f.Add(compress(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		const limit = 1 << 20
		if got, err := Decompress(data, limit); err == nil && len(got) > limit {
			t.Errorf("%d bytes", len(got))
		}
	})
}
