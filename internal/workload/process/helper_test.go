package process

import (
	"os"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	RunHelper()
	os.Exit(m.Run())
}

func TestAnUnknownHelperFails(t *testing.T) {
	out, err := HelperCommand("bogus").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "helper bogus: unknown") {
		t.Fatalf("got %v: %s", err, out)
	}
}
