package strictyaml

import (
	"encoding"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// walker compares a document with the Go type that it will be read into.
type walker struct {
	file  string
	nodes int
	errs  []error
}

func (w *walker) errorf(n *yaml.Node, format string, args ...any) {
	w.errs = append(w.errs, &Error{w.file, n.Line, fmt.Sprintf(format, args...)})
}

func (w *walker) walk(n *yaml.Node, t reflect.Type, key string) {
	if w.nodes++; w.nodes > maxNodes {
		if w.nodes == maxNodes+1 {
			w.errorf(n, "the file is too large once its aliases are followed")
		}
		return
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case n.Kind == yaml.AliasNode:
		w.walk(n.Alias, t, key)
	case reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		w.text(n, t, key)
	case readsItself(t):
		// And says what is wrong.
	case t.Kind() == reflect.Struct && n.Kind == yaml.MappingNode:
		w.fields(n, t)
	case t.Kind() == reflect.Struct && n.Tag != "!!null" && len(Keys(t)) == 0:
		w.errorf(n, "%s has no settings: write %s: {}", key, key)
	case t.Kind() == reflect.Struct && n.Tag != "!!null":
		w.errorf(n, "%s is a mapping with the keys %s", key, strings.Join(Keys(t), ", "))
	case n.Tag == "!!null":
	case t.Kind() == reflect.Slice && n.Kind == yaml.SequenceNode:
		w.items(n, t, key)
	case t.Kind() == reflect.Slice:
		w.errorf(n, "%s is a list", key)
	case t.Kind() == reflect.Map && n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			if key.Tag == "!!merge" {
				w.merge(value, t)
				continue
			}
			w.walk(value, t.Elem(), key.Value)
		}
	case t.Kind() == reflect.Map:
		w.errorf(n, "%s is a mapping", key)
	default:
		w.scalar(n, t, key)
	}
}

// items walks a list. The YAML library drops empty items, after which all
// others have the wrong index.
func (w *walker) items(n *yaml.Node, t reflect.Type, key string) {
	for _, item := range n.Content {
		if item.Tag == "!!null" && t.Elem().Kind() != reflect.Interface {
			w.errorf(item, "an item of %s is empty", key)
			continue
		}
		w.walk(item, t.Elem(), key)
	}
}

// scalar checks a value of a built-in Go type, whose name the YAML library's
// error would contain.
func (w *walker) scalar(n *yaml.Node, t reflect.Type, key string) {
	var kind string
	switch t.Kind() {
	case reflect.Bool:
		kind = "neither true nor false"
	case reflect.Float32, reflect.Float64:
		kind = "not a number"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		kind = "not a whole number"
	case reflect.Uint8, reflect.Uint16:
		kind = fmt.Sprintf("not a whole number from 0 to %d", 1<<t.Bits()-1)
	case reflect.Uint, reflect.Uint32, reflect.Uint64:
		kind = "not a whole number from 0 up"
	case reflect.String:
		kind = "not a text"
	default:
		return
	}
	if n.Kind != yaml.ScalarNode {
		w.errorf(n, "%s is a single value", key)
		return
	}
	v := reflect.New(t)
	if altered(n, v.Elem()) || n.Decode(v.Interface()) != nil {
		if allDigits(n.Value) && t.Kind() != reflect.Bool && t.Kind() != reflect.String && n.Style == 0 {
			kind = "too large"
		}
		w.errorf(n, "%s: %q is %s%s", key, n.Value, kind, bare(n, t))
	}
}

// allDigits reports whether a text is a number without sign and fraction.
func allDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// altered reports whether the library would read another whole number than is written: it
// truncates fractions and wraps what is just too large.
func altered(n *yaml.Node, v reflect.Value) bool {
	var number float64
	if n.ShortTag() != "!!float" || n.Decode(&number) != nil {
		return false
	}
	switch {
	case v.CanInt():
		return number != math.Trunc(number) || number >= 1<<63
	case v.CanUint():
		return number != math.Trunc(number) || number >= 1<<64
	}
	return false
}

// bare says how to write a number that was given in quotes or with a unit, such as 5%, if
// a plain number is expected.
func bare(n *yaml.Node, t reflect.Type) string {
	number, ok := strings.CutSuffix(strings.TrimSpace(n.Value), "%")
	number = strings.TrimSpace(number)
	quoted := n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0
	if _, err := strconv.ParseFloat(number, 64); !ok && !quoted || err != nil || t.Kind() == reflect.Bool || t.Kind() == reflect.String {
		return ""
	}
	return ": write " + number
}

// readsItself reports whether a type has its own YAML reader, of either form.
func readsItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[yaml.Unmarshaler]()) || p.Implements(reflect.TypeFor[interface{ UnmarshalYAML(func(any) error) error }]())
}

// text checks a scalar that has its own reader, because the YAML library loses
// the line of its errors.
func (w *walker) text(n *yaml.Node, t reflect.Type, key string) {
	if n.Kind != yaml.ScalarNode {
		w.errorf(n, "%s is a single value", key)
		return
	}
	if n.Tag == "!!null" {
		return
	}
	if err := reflect.New(t).Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(n.Value)); err != nil {
		w.errorf(n, "%s: %s", key, err)
	}
}

func (w *walker) fields(n *yaml.Node, t reflect.Type) {
	fields := Fields(t)
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Tag == "!!merge" {
			w.merge(value, t)
			continue
		}
		if seen[key.Value] {
			w.errorf(key, "%s is given twice", key.Value)
		}
		seen[key.Value] = true
		field, ok := fields[key.Value]
		if !ok {
			w.errorf(key, "unknown key %q%s", key.Value, suggest(key.Value, Keys(t)))
			continue
		}
		w.walk(value, field, key.Value)
	}
}

func (w *walker) merge(n *yaml.Node, t reflect.Type) {
	if n.Kind == yaml.SequenceNode {
		for _, item := range n.Content {
			w.walk(item, t, "<<")
		}
		return
	}
	w.walk(n, t, "<<")
}

// Fields returns the types of the YAML keys of a struct.
func Fields(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for f := range t.Fields() {
		if key, _, _ := strings.Cut(f.Tag.Get("yaml"), ","); key != "" {
			fields[key] = f.Type
		}
	}
	return fields
}

// Keys returns the YAML keys of a struct, sorted.
func Keys(t reflect.Type) []string {
	var keys []string
	for key := range Fields(t) {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// suggest says which key was most likely meant, or which keys there are.
func suggest(key string, keys []string) string {
	if near := Nearest(key, keys); near != "" {
		return fmt.Sprintf(": did you mean %q?", near)
	}
	if len(keys) == 0 {
		return ": it takes no keys"
	}
	return ": the keys here are " + strings.Join(keys, ", ")
}
