package process

import (
	"errors"
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

func TestAHelperTakesRunHelper(t *testing.T) {
	defer func() { begun = true }()
	begun = false
	if out, err := HelperCommand("bogus").CombinedOutput(); !errors.Is(err, errNotBegun) || len(out) > 0 {
		t.Fatalf("got %v: %s", err, out)
	}
}
