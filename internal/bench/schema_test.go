package bench

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"
)

var update = flag.Bool("update", false, "write schema.json anew, and fail")

// document is the subject of the schema: Results, with what a judge may add.
type document struct {
	Version      int            `json:"version" jsonschema:"enum=2"`
	Outcome      string         `json:"outcome,omitempty"`
	Runs         []*Run         `json:"runs,omitempty"`
	Comparisons  []Judged       `json:"comparisons,omitempty"`
	Explanations []*Explanation `json:"explanations,omitempty"`
	Searches     []*Search      `json:"searches,omitempty"`
}

// The schema follows from the types and their comments. It allows other keys: new ones do
// not change the version.
func TestSchemaIsThatOfTheTypes(t *testing.T) {
	r := jsonschema.Reflector{AllowAdditionalProperties: true, Anonymous: true, ExpandedStruct: true}
	r.Mapper = func(typ reflect.Type) *jsonschema.Schema {
		if typ != reflect.TypeFor[Shard]() {
			return nil
		}
		return &jsonschema.Schema{Type: "string", Pattern: `^[0-9]+/[0-9]+$`}
	}
	var comments jsonschema.Reflector
	if err := comments.AddGoComments(reflect.TypeFor[Run]().PkgPath(), "./", jsonschema.WithFullComment()); err != nil {
		t.Fatal(err)
	}
	r.LookupComment = func(typ reflect.Type, field string) string {
		name := strings.TrimSuffix(typ.PkgPath()+"."+typ.Name()+"."+field, ".")
		return inJSON(typ, comments.CommentMap[name])
	}
	schema := r.Reflect(&document{})
	schema.Title = "Results of ebpf-bench, version 2"
	schema.Description = "What run, ingest, merge, compare, explain and search write as JSON: results of one kind, one for each kernel."
	for _, kind := range []string{"runs", "comparisons", "explanations", "searches"} {
		schema.OneOf = append(schema.OneOf, &jsonschema.Schema{Required: []string{kind}})
	}
	got, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if got = append(got, '\n'); bytes.Equal(got, Schema) {
		return
	}
	if *update {
		if err := os.WriteFile("schema.json", got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Error("schema.json is not that of the types: go test -update writes it anew")
}

// inJSON returns a comment on a type with the fields' names in JSON.
func inJSON(typ reflect.Type, comment string) string {
	comment = strings.Join(strings.Fields(comment), " ")
	comment = strings.NewReplacer(" is nil ", " is left out ", ", nil ", ", left out ").Replace(comment)
	if typ.Kind() != reflect.Struct {
		return comment
	}
	for _, f := range reflect.VisibleFields(typ) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && !strings.HasPrefix(f.Name, "CPU") {
			comment = regexp.MustCompile(`\b`+f.Name+`\b`).ReplaceAllString(comment, name)
		}
	}
	return comment
}
