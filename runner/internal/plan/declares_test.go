package plan

import "testing"

func TestDeclares(t *testing.T) {
	for _, c := range []struct {
		line string
		want bool
	}{
		{"int f(struct xdp_md *ctx)", true},
		{"static __always_inline void *f (void)", true},
		{"char *f(void)", true},
		{"pub fn f(ctx: XdpContext) -> u32 {", true},
		{"pub fn f<T>(ctx: T) -> u32 {", true},
		{"\treturn f(ctx);", false},
		{"\tx = f(ctx);", false},
		{"\tint x = f(ctx);", false},
		{"\tf(ctx);", false},
		{"\tg(a, f(ctx));", false},
		{"int of(struct xdp_md *ctx)", false},
		{"int f_more(struct xdp_md *ctx)", false},
		{"SEC(\"xdp\")", false},
		{"", false},
	} {
		if got := declares(c.line, "f"); got != c.want {
			t.Errorf("%q: %v", c.line, got)
		}
	}
}
