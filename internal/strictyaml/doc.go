// Package strictyaml reads YAML files that people write: an unknown key, a
// value of the wrong kind, or a second document is an error that names the
// file, the line and what was probably meant.
package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"gopkg.in/yaml.v3"
)

// maxNodes bounds the document after its aliases are followed, so that a few
// lines of nested aliases cannot keep the reader busy forever.
const maxNodes = 100_000

// Doc is a YAML document, with the lines of its nodes.
type Doc struct {
	// File is the file's name, for messages.
	File string
	root *yaml.Node
}

// Read reads text into the struct that into points to. Its errors are *Error,
// joined.
func Read(file string, text []byte, into any) (*Doc, error) {
	root, err := parse(file, text, reflect.TypeOf(into).Elem())
	if err != nil {
		return nil, err
	}
	w := &walker{file: file}
	w.walk(root, reflect.TypeOf(into), "")
	if err := errors.Join(w.errs...); err != nil {
		return nil, err
	}
	if err := root.Decode(into); err != nil {
		return nil, yamlErrors(file, text, err)
	}
	return &Doc{file, root}, nil
}

// parse reads the only document of a file, a mapping.
func parse(file string, text []byte, shape reflect.Type) (*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	keys := strings.Join(Keys(shape), ", ")
	var doc, more yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, &Error{File: file, Line: 1, Msg: "the file is empty: it takes the keys " + keys}
	case err != nil:
		return nil, yamlErrors(file, text, err)
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, &Error{File: file, Line: max(more.Line, 1), Msg: "the file holds more than one YAML document"}
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, &Error{File: file, Line: root.Line, Msg: "the file is not a mapping with the keys " + keys}
	}
	return root, nil
}

// Errorf returns an error at the deepest existing node on a path of mapping
// keys and sequence indices.
func (d *Doc) Errorf(path []any, format string, args ...any) error {
	return &Error{d.File, d.Line(path...), fmt.Sprintf(format, args...)}
}

// Has reports whether the file has a value at a path, even a zero one.
func (d *Doc) Has(path ...any) bool {
	n := d.at(path)
	return n != nil && n.Tag != "!!null"
}

// Null reports whether the file has a path, but no value at it.
func (d *Doc) Null(path ...any) bool {
	n := d.at(path)
	return n != nil && n.Tag == "!!null"
}

func (d *Doc) at(path []any) *yaml.Node {
	n := d.root
	for _, step := range path {
		if n = child(n, step); n == nil {
			return nil
		}
	}
	return n
}

// Line returns the line of the deepest existing node on the path.
func (d *Doc) Line(path ...any) int {
	n := d.root
	line := n.Line
	for _, step := range path {
		if n = child(n, step); n == nil {
			break
		}
		line = n.Line
	}
	return line
}

func child(n *yaml.Node, step any) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch step := step.(type) {
	case int:
		if n.Kind == yaml.SequenceNode && step < len(n.Content) {
			return n.Content[step]
		}
	case string:
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == step {
				return n.Content[i+1]
			}
		}
	}
	return nil
}
