package action

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// resultsForm stands for a file of results: one run or comparison, whose keys are
// the document's own, or several.
type resultsForm struct {
	Runs        []bench.Run        `json:"runs"`
	Comparisons []bench.Comparison `json:"comparisons"`
}

// checkKeys reads JSON and refuses keys that results do not have, that are spelled
// otherwise, or that come twice: readers differ in what they make of these. It
// keeps nothing of the document.
func checkKeys(r io.Reader) error {
	d := json.NewDecoder(r)
	err := checkValue(d, reflect.TypeFor[resultsForm]())
	if errors.Is(err, io.EOF) {
		err = errors.New("the document ends before it is complete")
	}
	if err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the document")
	}
	return nil
}

// checkValue reads a value for a type, which is nil where it may be any.
func checkValue(d *json.Decoder, t reflect.Type) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch token {
	case json.Delim('{'):
		return checkObject(d, t)
	case json.Delim('['):
		var of reflect.Type
		if t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) {
			of = t.Elem()
		}
		for d.More() {
			if err := checkValue(d, of); err != nil {
				return err
			}
		}
		_, err = d.Token()
	}
	return err
}

func checkObject(d *json.Decoder, t reflect.Type) error {
	keys := keysOf(t)
	seen := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return err
		}
		key, _ := token.(string)
		of, ok := keys[key]
		switch {
		case seen[key]:
			return fmt.Errorf("the key %.80q comes twice", key)
		case keys == nil && t != nil && t.Kind() == reflect.Map:
			of = t.Elem()
		case keys != nil && !ok:
			return fmt.Errorf("results have no key %.80q", key)
		}
		seen[key] = true
		if err := checkValue(d, of); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// keysOf are the keys of a struct's JSON, nil where any may be: of a type that
// reads its own JSON too.
func keysOf(t reflect.Type) map[string]reflect.Type {
	if t == nil || t.Kind() != reflect.Struct || ownJSON(t) {
		return nil
	}
	keys := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			keys[name] = f.Type
		}
	}
	if t == reflect.TypeFor[resultsForm]() {
		maps.Copy(keys, keysOf(reflect.TypeFor[bench.Run]()))
		maps.Copy(keys, keysOf(reflect.TypeFor[bench.Comparison]()))
	}
	return keys
}

func ownJSON(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}
