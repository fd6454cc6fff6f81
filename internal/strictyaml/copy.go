package strictyaml

import (
	"slices"

	"gopkg.in/yaml.v3"
)

// Copy returns a copy of the value at a path, or nil if there is none. It has no comments
// and no anchors: values stand where the file refers to them.
func (d *Doc) Copy(path ...any) *yaml.Node { return clone(d.at(path)) }

func clone(n *yaml.Node) *yaml.Node {
	if n == nil {
		return nil
	}
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	c := &yaml.Node{Kind: n.Kind, Style: n.Style, Tag: n.Tag, Value: n.Value}
	if n.Kind != yaml.MappingNode {
		for _, item := range n.Content {
			c.Content = append(c.Content, clone(item))
		}
		return c
	}
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], clone(n.Content[i+1])
		switch {
		case key.Tag != "!!merge":
			c.Content = append(c.Content, clone(key), value)
		case value.Kind == yaml.SequenceNode:
			merged = append(merged, value.Content...)
		default:
			merged = append(merged, value)
		}
	}
	// A mapping's own keys win over those merged into it, and earlier ones over later.
	for _, m := range merged {
		for i := 0; i+1 < len(m.Content); i += 2 {
			if child(c, m.Content[i].Value) == nil {
				c.Content = append(c.Content, m.Content[i], m.Content[i+1])
			}
		}
	}
	return c
}

// Set sets the value of a key of a mapping. It removes the key for nil.
func Set(mapping *yaml.Node, key string, value *yaml.Node) {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		switch {
		case mapping.Content[i].Value != key:
		case value == nil:
			mapping.Content = slices.Delete(mapping.Content, i, i+2)
			return
		default:
			mapping.Content[i+1] = value
			return
		}
	}
	if value != nil {
		mapping.Content = append(mapping.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, value)
	}
}

// Get returns the value of a key of a mapping or at an index of a sequence, or nil.
func Get(n *yaml.Node, step any) *yaml.Node {
	if n == nil {
		return nil
	}
	return child(n, step)
}
