// Package schematest compares the JSON Schema of a YAML file with the Go type
// that the file is read into, for tests.
package schematest

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"github.com/org/ebpf-bench-action/internal/strictyaml"
)

// Validate checks a file against the schema that an editor uses.
func Validate(t testing.TB, schema []byte, text string) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var content any
	if err := yaml.Unmarshal([]byte(text), &content); err != nil {
		t.Fatal(err)
	}
	// The validator needs the types of encoding/json.
	asJSON, err := json.Marshal(plain(content))
	if err != nil {
		t.Fatal(err)
	}
	if content, err = jsonschema.UnmarshalJSON(bytes.NewReader(asJSON)); err != nil {
		t.Fatal(err)
	}
	return compiled.Validate(content)
}

// plain turns dates, which the YAML library parses and editors do not, into
// text.
func plain(v any) any {
	switch v := v.(type) {
	case time.Time:
		return v.Format(time.DateOnly)
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = plain(v[key])
		}
	}
	return v
}

// SameKeys fails the test unless the schema has exactly the keys that the type
// takes.
func SameKeys(t testing.TB, schema []byte, typ reflect.Type) {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal(schema, &root); err != nil {
		t.Fatal(err)
	}
	compare(t, "", root, root, typ)
}

func compare(t testing.TB, path string, root, node map[string]any, typ reflect.Type) {
	t.Helper()
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
		if isText(typ) {
			return
		}
		if typ.Kind() == reflect.Slice {
			items, ok := resolve(root, node)["items"].(map[string]any)
			if !ok {
				return
			}
			node = items
		}
		typ = typ.Elem()
	}
	node = resolve(root, node)
	if typ.Kind() == reflect.Map {
		if values, ok := node["additionalProperties"].(map[string]any); ok {
			compare(t, path+".*", root, values, typ.Elem())
		}
		return
	}
	if typ.Kind() != reflect.Struct || isText(typ) {
		return
	}
	properties, _ := node["properties"].(map[string]any)
	var have []string
	for key := range properties {
		have = append(have, key)
	}
	slices.Sort(have)
	if want := strictyaml.Keys(typ); !slices.Equal(have, want) {
		t.Errorf("schema%s has the keys %v, the reader %v", path, have, want)
	}
	for key, field := range strictyaml.Fields(typ) {
		if property, ok := properties[key].(map[string]any); ok {
			compare(t, path+"."+key, root, property, field)
		}
	}
}

func isText(typ reflect.Type) bool {
	return reflect.PointerTo(typ).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

func resolve(root, node map[string]any) map[string]any {
	ref, ok := node["$ref"].(string)
	if !ok {
		return node
	}
	return root["$defs"].(map[string]any)[ref[len("#/$defs/"):]].(map[string]any)
}
