package main

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"gopkg.in/yaml.v3"

	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/internal/ui"
)

var updateReference = flag.Bool("update-reference", false, "write docs/reference.md anew, and fail")

// docs/reference.md has every command with its flags, every input of the action and every
// key of the files, as the code has them. make reference writes it.
func TestReferenceIsThatOfTheCode(t *testing.T) {
	testenv.Host(t, "all documents")
	const file = "../../docs/reference.md"
	want := reference(t)
	if *updateReference {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != want {
		t.Error("docs/reference.md is not that of the code: run make reference")
	}
}

func reference(t *testing.T) string {
	var b strings.Builder
	b.WriteString("# Reference\n\nAll flags, inputs and keys. The code writes this page (`make reference`); `--help` of a command has examples.\n\n## Commands\n")
	root := newRoot(ui.New(io.Discard, io.Discard))
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	referCommands(&b, root)
	b.WriteString("\n## Inputs and outputs of the Action\n\n")
	referAction(t, &b)
	b.WriteString("\n## Keys of a suite\n")
	referSchema(t, &b, "../../internal/suite/schema.json")
	b.WriteString("\n## Keys of a file of thresholds\n")
	referSchema(t, &b, "../../thresholds/schema.json")
	return b.String()
}

func referCommands(b *strings.Builder, cmd *cobra.Command) {
	if cmd.Hidden || cmd.Name() == "help" {
		return
	}
	fmt.Fprintf(b, "\n### `%s`\n\n%s.\n\n", cmd.CommandPath(), cmd.Short)
	fmt.Fprintf(b, "```text\n%s\n```\n", cmd.UseLine())
	var rows []string
	add := func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		kind, usage := pflag.UnquoteUsage(f)
		name := "`--" + f.Name
		if kind != "" {
			name += " " + kind
		}
		name += "`"
		if f.Shorthand != "" {
			name = "`-" + f.Shorthand + "`, " + name
		}
		if !slices.Contains([]string{"", "false", "0", "0s", "[]"}, f.DefValue) && !strings.Contains(usage, "(default") {
			usage += fmt.Sprintf(" (default `%s`)", f.DefValue)
		}
		rows = append(rows, tableRow(name, usage))
	}
	cmd.NonInheritedFlags().VisitAll(add)
	if len(rows) > 0 {
		b.WriteString("\n| flag | |\n|---|---|\n" + strings.Join(rows, ""))
	}
	for _, c := range cmd.Commands() {
		if c.Name() == "completion" {
			continue // it is cobra's, one command for each shell
		}
		referCommands(b, c)
	}
}

// tableRow returns cells as a row of a table, each on one line.
func tableRow(cells ...string) string {
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(strings.Join(strings.Fields(c), " "), "|", `\|`)
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

func referAction(t *testing.T, b *strings.Builder) {
	text, err := os.ReadFile("../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	type described struct{ Description, Default string }
	var action struct{ Inputs, Outputs yaml.Node }
	if err := yaml.Unmarshal(text, &action); err != nil {
		t.Fatal(err)
	}
	for name, node := range map[string]*yaml.Node{"inputs": &action.Inputs, "outputs": &action.Outputs} {
		if node.Kind != yaml.MappingNode {
			t.Fatalf("action.yml has no %s", name)
		}
	}
	table := func(node *yaml.Node, withDefault bool) {
		for i := 0; i+1 < len(node.Content); i += 2 {
			var d described
			if err := node.Content[i+1].Decode(&d); err != nil {
				t.Fatal(err)
			}
			text := d.Description
			if withDefault && d.Default != "" {
				text += fmt.Sprintf(" Default: `%s`.", d.Default)
			}
			b.WriteString(tableRow("`"+node.Content[i].Value+"`", text))
		}
	}
	b.WriteString("| input | |\n|---|---|\n")
	table(&action.Inputs, true)
	b.WriteString("\n| output | |\n|---|---|\n")
	table(&action.Outputs, false)
}

// schema is what the reference uses of a JSON schema.
type schema struct {
	Ref         string            `json:"$ref"`
	Type        any               `json:"type"`
	Const       any               `json:"const"`
	Enum        []any             `json:"enum"`
	Items       *schema           `json:"items"`
	OneOf       []schema          `json:"oneOf"`
	AnyOf       []schema          `json:"anyOf"`
	Required    []string          `json:"required"`
	Description string            `json:"description"`
	Properties  map[string]schema `json:"properties"`
	Defs        map[string]schema `json:"$defs"`
}

func referSchema(t *testing.T, b *strings.Builder, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var s schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	referKeys(b, "", &s, s.Defs)
	for _, name := range slices.Sorted(maps.Keys(s.Defs)) {
		def := s.Defs[name]
		referKeys(b, name, &def, s.Defs)
	}
}

// referKeys writes the keys of an object, if it is one.
func referKeys(b *strings.Builder, name string, s *schema, defs map[string]schema) {
	properties := s.keys()
	if len(properties) == 0 {
		return
	}
	if name != "" {
		fmt.Fprintf(b, "\n### `%s`\n", name)
	}
	if s.Description != "" {
		fmt.Fprintf(b, "\n%s\n", s.Description)
	}
	b.WriteString("\n| key | type | |\n|---|---|---|\n")
	for _, key := range slices.Sorted(maps.Keys(properties)) {
		p := properties[key]
		text := p.Description
		if slices.Contains(s.Required, key) {
			text = strings.TrimSpace("Required. " + text)
		}
		b.WriteString(tableRow("`"+key+"`", p.kind(defs), cmp.Or(text, defs[p.ref()].Description)))
	}
}

// keys returns the keys of an object, with those of its alternatives.
func (s *schema) keys() map[string]schema {
	keys := map[string]schema{}
	for _, one := range append(append([]schema{*s}, s.OneOf...), s.AnyOf...) {
		for key, p := range one.Properties {
			if _, known := keys[key]; !known {
				keys[key] = p
			}
		}
	}
	return keys
}

// ref returns the name of the definition that s refers to, empty if it does not.
func (s *schema) ref() string { return s.Ref[strings.LastIndexByte(s.Ref, '/')+1:] }

// kind returns what a value must be, in a few words.
func (s *schema) kind(defs map[string]schema) string {
	switch {
	case s.Ref != "":
		def := defs[s.ref()]
		if len(def.keys()) == 0 {
			return def.kind(defs)
		}
		return "[" + s.ref() + "](#" + s.ref() + ")"
	case s.Const != nil:
		return fmt.Sprintf("`%v`", s.Const)
	case len(s.Enum) > 0:
		var words []string
		for _, word := range s.Enum {
			words = append(words, fmt.Sprintf("`%v`", word))
		}
		return strings.Join(words, ", ")
	case s.Items != nil:
		return "list of " + s.Items.kind(defs)
	case len(s.OneOf)+len(s.AnyOf) > 0:
		var kinds []string
		for _, one := range append(slices.Clone(s.OneOf), s.AnyOf...) {
			if kind := one.kind(defs); !slices.Contains(kinds, kind) {
				kinds = append(kinds, kind)
			}
		}
		return strings.Join(kinds, " or ")
	}
	switch types := s.Type.(type) {
	case string:
		return types
	case []any:
		var names []string
		for _, name := range types {
			names = append(names, fmt.Sprint(name))
		}
		return strings.Join(names, " or ")
	}
	return "any value"
}
