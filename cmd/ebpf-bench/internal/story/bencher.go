package story

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// playBencher does what bencher run --adapter json COMMAND does: it runs the command by a
// shell, aborts if that fails, and else parses stdout alone as results: bencher COMMAND
// BENCHMARK... With ! it must abort. The command "recipe" is the one in
// docs/recipes/bencher.yml.
func playBencher(ts *testscript.TestScript, neg bool, args []string) {
	command := args[0]
	if command == "recipe" {
		command = recipeCommand(ts)
	}
	err := ts.Exec("/bin/sh", "-c", command)
	if err != nil && neg {
		return
	}
	ts.Check(err)
	results, err := parseBMF(ts.ReadFile("stdout"))
	if err != nil && neg {
		return
	}
	ts.Check(err)
	if neg {
		ts.Fatalf("bencher takes it")
	}
	for _, name := range args[1:] {
		if len(results[name]) == 0 {
			ts.Fatalf("no results of %q", name)
		}
	}
}

// recipeCommand returns the command that the recipe gives to bencher.
func recipeCommand(ts *testscript.TestScript) string {
	text, err := os.ReadFile(inRepository(ts, "docs/recipes/bencher.yml"))
	ts.Check(err)
	m := regexp.MustCompile(`--adapter json "ebpf-bench ([^"]+)"`).FindAllStringSubmatch(string(text), -1)
	if len(m) != 1 {
		ts.Fatalf("the recipe has %d commands for bencher", len(m))
	}
	return "ebpf-bench " + m[0][1]
}

// bmfResults are measures by benchmark, and their metrics by measure.
type bmfResults map[string]map[string]bmfMetric

type bmfMetric map[string]float64

// parseBMF reads exactly one document of Bencher Metric Format. It uses neither the tool's
// own types nor the schema: anything that it does not know is wrong.
func parseBMF(text string) (bmfResults, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	results := bmfResults{}
	err := eachKey(dec, func(benchmark string) error {
		if benchmark == "" || results[benchmark] != nil {
			return fmt.Errorf("benchmark %q", benchmark)
		}
		results[benchmark] = map[string]bmfMetric{}
		return eachKey(dec, func(measure string) error {
			if strings.Trim(measure, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || results[benchmark][measure] != nil {
				return fmt.Errorf("measure %q of %s", measure, benchmark)
			}
			m := bmfMetric{}
			results[benchmark][measure] = m
			if err := eachKey(dec, m.parse(dec)); err != nil {
				return fmt.Errorf("%s: %s: %w", benchmark, measure, err)
			}
			return m.check()
		})
	})
	if err != nil {
		return nil, err
	}
	if token, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%v follows the document", token)
	}
	return results, nil
}

func (m bmfMetric) parse(dec *json.Decoder) func(string) error {
	return func(key string) error {
		token, err := dec.Token()
		if err != nil {
			return err
		}
		value, ok := token.(float64)
		_, twice := m[key]
		if !ok || twice || math.IsInf(value, 0) || key != "value" && key != "lower_value" && key != "upper_value" {
			return fmt.Errorf("%s: %v", key, token)
		}
		m[key] = value
		return nil
	}
}

func (m bmfMetric) check() error {
	value, ok := m["value"]
	if !ok {
		return errors.New("a metric without a value")
	}
	if lower, ok := m["lower_value"]; ok && lower > value {
		return fmt.Errorf("the lower value %v is above %v", lower, value)
	}
	if upper, ok := m["upper_value"]; ok && upper < value {
		return fmt.Errorf("the upper value %v is below %v", upper, value)
	}
	return nil
}

// eachKey reads an object and calls fn at the value of each key.
func eachKey(dec *json.Decoder, fn func(string) error) error {
	token, err := dec.Token()
	if err != nil {
		return err
	}
	if token != json.Delim('{') {
		return fmt.Errorf("%v is not an object", token)
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		if err := fn(fmt.Sprint(key)); err != nil {
			return err
		}
	}
	_, err = dec.Token()
	return err
}
