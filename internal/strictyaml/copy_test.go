package strictyaml

import (
	"testing"

	"gopkg.in/yaml.v3"
)

func TestCopy(t *testing.T) {
	type item struct {
		Name string         `yaml:"name"`
		Of   map[string]int `yaml:"of"`
		List []int          `yaml:"list"`
	}
	var into struct {
		Items []item `yaml:"items"`
	}
	doc, err := Read("x.yml", []byte(`items:
  - &first # of all
    name: a
    of: &of {x: 1, y: 2}
    list: [1, 2]
  # the second
  - <<: *first
    name: b
    of: {<<: [*of, {y: 3, z: 3}], x: 9}
  - {name: c, of: *of}
`), &into)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path []any
		want string
	}{
		{[]any{"items", 0}, "name: a\nof: {x: 1, y: 2}\nlist: [1, 2]\n"},
		{[]any{"items", 1}, "name: b\nof: {x: 9, y: 2, z: 3}\nlist: [1, 2]\n"},
		{[]any{"items", 2}, "{name: c, of: {x: 1, y: 2}}\n"},
	} {
		n := doc.Copy(c.path...)
		Set(Get(n, "of"), "nothing", nil)
		got, err := yaml.Marshal(n)
		if err != nil || string(got) != c.want {
			t.Errorf("%v is\n%s, want\n%s (%v)", c.path, got, c.want, err)
		}
		Set(n, "name", nil)
		Set(n, "list", &yaml.Node{Kind: yaml.ScalarNode, Value: "3"})
		if Get(n, "name") != nil || Get(n, "list").Value != "3" {
			t.Errorf("%v was set to %+v", c.path, n)
		}
	}
	if doc.Copy("items", 0, "list") == nil || doc.Copy("items", 7) != nil || Get(nil, "x") != nil {
		t.Error("what is there is not copied, or what is not")
	}
}
