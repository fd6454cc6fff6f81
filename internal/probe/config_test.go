package probe

import (
	"bytes"
	"compress/gzip"
	"maps"
	"testing"
)

const someConfig = "# Linux/x86 6.12 Kernel Configuration\nCONFIG_HZ=250\n# CONFIG_PREEMPT is not set\nCONFIG_CC_VERSION_TEXT=\"gcc = 14\"\nCONFIG_VETH=m\nCONFIG_EMPTY=\nOTHER=y\n"

func TestConfigs(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write([]byte(someConfig))
	_ = w.Close()
	want := map[string]string{"CONFIG_HZ": "250", "CONFIG_CC_VERSION_TEXT": `"gcc = 14"`, "CONFIG_VETH": "m"}
	for name, data := range map[string][]byte{"plain": []byte(someConfig), "compressed": packed.Bytes()} {
		if got, err := parseConfig(data); err != nil || !maps.Equal(got, want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if _, err := parseConfig(packed.Bytes()[:packed.Len()/2]); err == nil {
		t.Error("half of a compressed one is read")
	}
}

func FuzzConfig(f *testing.F) {
	f.Add([]byte(someConfig))
	f.Add([]byte{0x1f, 0x8b, 8, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		settings, _ := parseConfig(data)
		for name, value := range settings {
			if name == "" || value == "" {
				t.Errorf("setting %q is %q", name, value)
			}
		}
	})
}
