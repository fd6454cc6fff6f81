package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// OneOf adds to a command a flag with one of a few words as its value. The usage text
// calls the value kind.
func OneOf(cmd *cobra.Command, flags *pflag.FlagSet, value *string, name, kind string, words []string, usage string) {
	flags.Var(&oneOf{value, kind, words}, name, usage)
	_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// oneOf is the value of such a flag.
type oneOf struct {
	value *string
	kind  string
	words []string
}

func (o *oneOf) String() string {
	if o.value == nil {
		return ""
	}
	return *o.value
}

func (o *oneOf) Type() string { return o.kind }

func (o *oneOf) Set(word string) error {
	if !slices.Contains(o.words, word) {
		last := len(o.words) - 1
		return errors.New("it is " + strings.Join(o.words[:last], ", ") + " or " + o.words[last])
	}
	*o.value = word
	return nil
}
