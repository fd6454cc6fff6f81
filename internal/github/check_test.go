package github

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func testCheck(annotations int) Check {
	c := Check{Name: "ebpf-bench", SHA: headSHA, Conclusion: Failed, Title: "1 regression", Summary: "slower", URL: "https://github.com/o/r/actions/runs/1", More: more}
	for i := range annotations {
		c.Annotations = append(c.Annotations, Annotation{Level: Failure, Path: "bpf/x.c", Line: i + 1, Title: "fib", Message: "12 instructions more"})
	}
	return c
}

func TestACheckRunHasAllAnnotations(t *testing.T) {
	for _, n := range []int{0, 1, 50, 51, 123} {
		f := newFake(t)
		p, err := f.api().PublishCheck(t.Context(), testCheck(n))
		if err != nil || p.As != "check run" || p.URL == "" || p.Why != "" || !p.Annotated {
			t.Fatalf("%d: %+v, %v", n, p, err)
		}
		run := f.Checks[0]
		if all, _ := run["all"].([]any); len(all) != n || len(f.Checks) != 1 {
			t.Errorf("%d annotations of %d", len(all), n)
		}
		if run["conclusion"] != "failure" || run["head_sha"] != headSHA || run["status"] != "completed" {
			t.Errorf("run %v", run)
		}
	}
}

func TestWhereChecksAreNotPermitted(t *testing.T) {
	for _, status := range []int{403, 404} {
		f := newFake(t)
		f.Denied["check-runs"] = status
		p, err := f.api().PublishCheck(t.Context(), testCheck(3))
		if err != nil || p.As != "commit status" || p.Annotated || !strings.Contains(p.Why, fmt.Sprint(status)) {
			t.Fatalf("%+v, %v", p, err)
		}
		if s := f.Statuses[0]; s["state"] != "failure" || s["context"] != "ebpf-bench" || s["description"] != "1 regression" {
			t.Errorf("status %v", s)
		}
		f.Denied["statuses"] = status
		p, err = f.api().PublishCheck(t.Context(), testCheck(3))
		if !errors.Is(err, ErrReadOnly) || p.As != "nothing" || p.Annotated || !strings.Contains(p.Why, "commit status") {
			t.Errorf("%+v, %v", p, err)
		}
	}
}

func TestHostilePathsCostNoVerdict(t *testing.T) {
	f := newFake(t)
	c := testCheck(0)
	for _, path := range []string{"", "/etc/passwd", "../x", "a/../../x", ".", "..", "a\nb", "\x1b[31m", strings.Repeat("a", 5000)} {
		c.Annotations = append(c.Annotations, Annotation{Level: Warning, Path: path, Message: "x"})
	}
	c.Annotations = append(c.Annotations, Annotation{Level: Warning, Path: "./bpf//x.c", Line: -3, EndLine: -9})
	if _, err := f.api().PublishCheck(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	all := f.Checks[0]["all"].([]any)
	if len(all) != 1 || all[0].(map[string]any)["path"] != "bpf/x.c" || all[0].(map[string]any)["start_line"] != 1.0 {
		t.Errorf("annotations %v", all)
	}
	// Only GitHub knows that this one is wrong.
	c.Annotations = append(c.Annotations, Annotation{Level: Warning, Path: "refuse.c", Message: "x"})
	p, err := f.api().PublishCheck(t.Context(), c)
	if err != nil || p.As != "check run" || p.Annotated || !strings.Contains(p.Why, "refused the annotations") {
		t.Errorf("%+v, %v", p, err)
	}
	// The wrong one is in the second request.
	c = testCheck(maxAnnotations)
	c.Annotations = append(c.Annotations, Annotation{Level: Warning, Path: "refuse.c", Message: "x"})
	p, err = f.api().PublishCheck(t.Context(), c)
	if err != nil || p.As != "check run" || p.Annotated || !strings.Contains(p.Why, "refused some of the annotations") {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestLongChecksAreCut(t *testing.T) {
	f := newFake(t)
	c := testCheck(1)
	c.Summary, c.Title = longReport(10_000), strings.Repeat("é", 1000)
	c.Annotations[0].Message = strings.Repeat("é", maxAnnotation)
	if _, err := f.api().PublishCheck(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	run := f.Checks[0]
	output := run["output"].(map[string]any)
	if !strings.HasSuffix(output["summary"].(string), more+"\n") || len([]rune(output["title"].(string))) != maxTitle {
		t.Errorf("output %.200v", output)
	}
	if text := run["all"].([]any)[0].(map[string]any)["message"].(string); len(text) > maxAnnotation || strings.ContainsRune(text, '\ufffd') {
		t.Errorf("%d bytes", len(text))
	}
	// A status has only one line.
	f.Denied["check-runs"] = 403
	c.Title = "a\n" + c.Title
	if _, err := f.api().PublishCheck(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if s := f.Statuses[0]["description"].(string); len([]rune(s)) != maxStatus || strings.Contains(s, "\n") {
		t.Errorf("description %q", s)
	}
}

func TestTooManyAnnotationsAreCounted(t *testing.T) {
	f := newFake(t)
	p, err := f.api().PublishCheck(t.Context(), testCheck(maxAllAnnotated+5))
	if err != nil || !strings.Contains(p.Why, "1000 of 1005") || len(f.Checks[0]["all"].([]any)) != maxAllAnnotated {
		t.Errorf("%+v, %v", p, err)
	}
}
