package strictyaml

import "testing"

func TestNearest(t *testing.T) {
	for _, c := range []struct {
		name  string
		names []string
		want  string
	}{
		{"flwos", []string{"wos", "flows", "flow"}, "flows"},
		{"sys_enter_opnat", []string{"sys_enter_open", "sys_enter_openat"}, "sys_enter_openat"},
		{"bugdet", []string{"objects", "budget"}, "budget"},
		{"brk", []string{"bar"}, ""},
		{"xy", []string{"", "ab", "yx"}, "yx"},
		{"a_name_of_some_length", []string{"a_name_of_some_other"}, ""},
		{"", []string{"a"}, ""},
		{"same", nil, ""},
	} {
		if got := Nearest(c.name, c.names); got != c.want {
			t.Errorf("%q among %q: %q, want %q", c.name, c.names, got, c.want)
		}
	}
}
