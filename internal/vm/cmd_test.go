package vm

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestACommandRunsOnEveryKernel(t *testing.T) {
	for _, release := range kernels {
		t.Run(release, func(t *testing.T) {
			cmd := newCmd(t, release, "hello", "there")
			var stdout, stderr bytes.Buffer
			var results []string
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			var console bytes.Buffer
			cmd.Console = &console
			cmd.OnResult = func(r json.RawMessage) { results = append(results, string(r)) }
			if err := cmd.Run(t.Context()); err != nil {
				t.Fatalf("%+v\n%s", err, console.String())
			}
			t.Logf("%q %q %q %+v", stdout.String(), stderr.String(), results, cmd.Info)
		})
	}
}
