// Package escapetest has texts that strangers might write, and the interpretation of them
// by a runner of GitHub Actions.
package escapetest

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
)

// Attacks are texts that a stranger might write into a name.
var Attacks = []string{
	"::error::x", "::set-output name=a::b", "::add-mask::a", "::stop-commands::x", "\n::error::x", "\r::error::x", "\r\n::error::x",
	"\u2028::error::x", "\u0085::error::x", "\u00a0::error::x", "\ufeff::error::x", "\u200b::error::x", "##[error]x", "##[command]x", "###[[error]x", "#", "##", "[", "::", ":", "%0A::error::x", "%0D", "%25", "%",
	"EOF", "_GitHubActionsFileCommandDelimeter_", "a<<EOF\n",
	"\x1b[31m", "\x1b]0;title\a", "\x1b]8;;http://evil\x1b\\", "\x9b31m", "\b", "\x00", "\u202e", "\u2066", "\xff", "\xc3", "\xe2\x80",
	"@octocat", "@org/team", "user@example.com", "#1", "GH-1", "org/repo#1", "0123456789abcdef0123456789abcdef01234567", "org/repo@0123456789abcdef0123456789abcdef01234567",
	"https://evil.example", "http://evil.example", "www.evil.example", "ftp://evil.example", "mailto:a@b.example", "xmpp:a@b.example", "//evil.example",
	"[x](http://evil)", "![x](http://evil/x.png)", "[x]: http://evil", "[x][x]", "<http://evil>", "<a@b.example>",
	"<b>", "</b>", "<img src=x onerror=y>", "<script>", "</script>", "<!--", "-->", "<![CDATA[", "]]>", "<?x", "<!X", "</code>", "</details>", "<details>", "</summary>", "<table>", "&lt;", "&#64;octocat", "&", "&#",
	"|", "\\|", "\\", "\\`", "`", "``", "```", "~~~", "````", "\n```\n", "\n~~~\n", "\n\n", "\n", "\r", "\t", "    ", " ", "",
	"*", "**", "_", "__", "~~", "# ", "\n# ", "- ", "1. ", "> ", "---", "\n---\n", "===", ":tada:", "$x$", "$$", "$`x`$", "[ ]", "[^1]", "[!NOTE]",
	"x", "xdp_prog", "fun_xdp/basic", "name", "é", "日本語", "🚀", "a\u0301\u0301\u0301",
}

// Names returns names made from attacks, the same ones each time.
func Names(n int) []string {
	random := rand.New(rand.NewPCG(1, 2))
	names := make([]string, n)
	for i := range names {
		var b strings.Builder
		for range 1 + random.IntN(5) {
			b.WriteString(Attacks[random.IntN(len(Attacks))])
		}
		names[i] = b.String()
	}
	return names
}

// RunnerLines returns the lines that the runner reads: .NET ends them at \n, \r and \r\n.
func RunnerLines(s string) []string {
	return strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s), "\n")
}

// CommandOf returns the command that the runner finds in a line, or an empty string: see
// ActionCommand.TryParseV2 and TryParse in actions/runner.
func CommandOf(line string) string {
	if c := strings.TrimLeftFunc(line, func(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' || r == '\u200b' }); strings.HasPrefix(c, "::") {
		if _, _, ok := strings.Cut(c[2:], "::"); ok {
			return c
		}
	}
	if i := strings.Index(line, "##["); i >= 0 && strings.Contains(line[i:], "]") {
		return line[i:]
	}
	return ""
}

// CheckLog checks that text in the log of a job is not a command to the runner, and that a
// terminal only prints it.
func CheckLog(t testing.TB, out string) {
	t.Helper()
	for _, line := range RunnerLines(out) {
		if c := CommandOf(line); c != "" {
			t.Errorf("the runner takes %q for a command", c)
		}
	}
	if i := strings.IndexFunc(out, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }); i >= 0 {
		t.Errorf("%q reaches the terminal", out[i:])
	}
}

// Fuzz fuzzes a check, starting with the attacks.
func Fuzz(f *testing.F, check func(*testing.T, string)) {
	for _, a := range Attacks {
		f.Add(a)
	}
	f.Fuzz(check)
}
