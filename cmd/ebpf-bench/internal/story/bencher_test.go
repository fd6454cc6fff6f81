package story

import "testing"

// A stand-in must be as strict as the original.
func TestParseBMF(t *testing.T) {
	for _, c := range []struct {
		in string
		ok bool
	}{
		{`{}`, true},
		{`{"a": {"latency": {"value": 1.5}}}` + "\n", true},
		{`{"a": {"latency": {"value": 1, "lower_value": 0, "upper_value": 2}, "jited-bytes": {"value": -1e3}}}`, true},
		{``, false},
		{`[]`, false},
		{`null`, false},
		{`{"a": {"latency": {"value": 1}}} {}`, false},
		{`{"a": {"latency": {"value": 1}}}x`, false},
		{`measured{"a": {"latency": {"value": 1}}}`, false},
		{`{"a": {"latency": {"value": 1}}`, false},
		{`{"a": {"latency": 1}}`, false},
		{`{"a": [1]}`, false},
		{`{"a": {"latency": {}}}`, false},
		{`{"a": {"latency": {"value": "1"}}}`, false},
		{`{"a": {"latency": {"value": null}}}`, false},
		{`{"a": {"latency": {"value": NaN}}}`, false},
		{`{"a": {"latency": {"value": 1e999}}}`, false},
		{`{"a": {"latency": {"value": {}}}}`, false},
		{`{"a": {"latency": {"value": 1, "unit": 2}}}`, false},
		{`{"a": {"latency": {"value": 1, "value": 2}}}`, false},
		{`{"a": {"latency": {"value": 1, "lower_value": 2}}}`, false},
		{`{"a": {"latency": {"value": 1, "upper_value": 0}}}`, false},
		{`{"a": {"Latency in ns": {"value": 1}}}`, false},
		{`{"a": {"latency": {"value": 1}}, "a": {"latency": {"value": 1}}}`, false},
		{`{"": {"latency": {"value": 1}}}`, false},
	} {
		if _, err := parseBMF(c.in); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.in, err)
		}
	}
}
