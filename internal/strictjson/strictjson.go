// Package strictjson refuses JSON that different readers may read differently.
package strictjson

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"strings"
)

// CheckKeys reads a document that may stand for any of the structs. It refuses
// keys that none of them has, keys in another spelling, and duplicate keys.
// Errors call the document what.
func CheckKeys(r io.Reader, what string, of ...reflect.Type) error {
	d := checker{json.NewDecoder(r), what}
	if err := d.value(of...); err != nil {
		return Reword(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the document")
	}
	return nil
}

type checker struct {
	*json.Decoder
	what string
}

// value reads a value of one of the types; if there are none, it may be
// anything.
func (d checker) value(types ...reflect.Type) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	for i, t := range types {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		types[i] = t
	}
	switch token {
	case json.Delim('{'):
		return d.object(types)
	case json.Delim('['):
		var of []reflect.Type
		for _, t := range types {
			if t.Kind() == reflect.Slice || t.Kind() == reflect.Array {
				of = append(of, t.Elem())
			}
		}
		for d.More() {
			if err := d.value(of...); err != nil {
				return err
			}
		}
		_, err = d.Token()
	}
	return err
}

func (d checker) object(types []reflect.Type) error {
	var keys map[string]reflect.Type
	var values []reflect.Type // of maps
	for _, t := range types {
		if of := keysOf(t); of != nil && keys == nil {
			keys = of
		} else {
			maps.Copy(keys, of)
		}
		if t.Kind() == reflect.Map {
			values = append(values, t.Elem())
		}
	}
	seen := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return err
		}
		key, _ := token.(string)
		of := values
		t, ok := keys[key]
		switch {
		case seen[key]:
			return fmt.Errorf("the key %.80q comes twice", key)
		case ok:
			of = []reflect.Type{t}
		case keys != nil:
			return fmt.Errorf("%s have no key %.80q", d.what, key)
		}
		seen[key] = true
		if err := d.value(of...); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// keysOf returns the keys of a struct's JSON, or nil if any are allowed, as for
// a type that reads its own JSON.
func keysOf(t reflect.Type) map[string]reflect.Type {
	if t.Kind() != reflect.Struct || ownJSON(t) {
		return nil
	}
	keys := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			keys[name] = f.Type
		}
	}
	return keys
}

func ownJSON(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}
