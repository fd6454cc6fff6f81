package suite

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"github.com/org/ebpf-bench-action/internal/strictyaml"
)

// validate checks a suite file against the schema that an editor uses.
func validate(t *testing.T, text string) error {
	t.Helper()
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", schema); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc any
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	// The validator wants the types of encoding/json.
	asJSON, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	doc, err = jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
	if err != nil {
		t.Fatal(err)
	}
	return compiled.Validate(doc)
}

// Every key that the reader takes is in the schema, and none beside.
func TestSchemaHasTheKeysOfTheReader(t *testing.T) {
	var schema map[string]any
	if err := json.Unmarshal(Schema, &schema); err != nil {
		t.Fatal(err)
	}
	compareKeys(t, "", schema, schema, reflect.TypeFor[file]())
}

func compareKeys(t *testing.T, path string, root, node map[string]any, typ reflect.Type) {
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
		if reflect.PointerTo(typ).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
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
			compareKeys(t, path+".*", root, values, typ.Elem())
		}
		return
	}
	if typ.Kind() != reflect.Struct || reflect.PointerTo(typ).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
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
			compareKeys(t, path+"."+key, root, property, field)
		}
	}
}

func resolve(root, node map[string]any) map[string]any {
	ref, ok := node["$ref"].(string)
	if !ok {
		return node
	}
	return root["$defs"].(map[string]any)[ref[len("#/$defs/"):]].(map[string]any)
}
