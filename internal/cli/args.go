// Package cli has the arguments and flags that several commands share.
package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/strictyaml"
)

// UsageError returns a usage error for a command.
func UsageError(cmd *cobra.Command, err error) error {
	if bench.Hint(err) == "" {
		err = bench.WithHint(err, "see "+cmd.CommandPath()+" --help")
	}
	return exit.Usage(err)
}

// UsageArgs checks the arguments of a command. Its error says which one is wrong.
func UsageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return UsageError(cmd, explainArgs(cmd, args, check, err))
		}
		return nil
	}
}

// RefuseEmpty refuses arguments and values of flags that are empty, except of commands for
// the shell's completion.
func RefuseEmpty(cmd *cobra.Command, args []string) error {
	if cmd.Hidden {
		return nil
	}
	if n := slices.Index(args, ""); n >= 0 {
		return UsageError(cmd, fmt.Errorf("argument %d is empty", n+1))
	}
	var err error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.String() == "" && err == nil {
			err = UsageError(cmd, fmt.Errorf("--%s is empty", f.Name))
		}
	})
	return err
}

// explainArgs says which argument is missing or one too many. cobra only counts them.
func explainArgs(cmd *cobra.Command, args []string, check cobra.PositionalArgs, err error) error {
	needed := neededArgs(cmd.Use)
	switch {
	case cmd.HasSubCommands():
		return fmt.Errorf("%w%s", err, strictyaml.DidYouMean(args[0], namesOf(cmd.Commands())))
	case len(args) < len(needed):
		return fmt.Errorf("%s is missing", needed[len(args)])
	case len(args) == 1 && len(cmd.ValidArgs) > 0:
		return fmt.Errorf("%q is none of %s%s", args[0], strings.Join(cmd.ValidArgs, ", "), strictyaml.DidYouMean(args[0], cmd.ValidArgs))
	}
	for n := len(args) - 1; n >= 0; n-- {
		if check(cmd, args[:n]) == nil {
			return fmt.Errorf("one argument too many: %q", args[n])
		}
	}
	return err
}

func namesOf(commands []*cobra.Command) (names []string) {
	for _, c := range commands {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// FlagError returns the error for wrong flags of a command.
func FlagError(cmd *cobra.Command, err error) error {
	if invalid := (*pflag.InvalidValueError)(nil); errors.As(err, &invalid) {
		f := invalid.GetFlag()
		if want, ok := numbers[f.Value.Type()]; ok {
			err = fmt.Errorf("invalid argument %q for \"--%s\" flag: it is not %s", invalid.GetValue(), f.Name, want)
			if errors.Is(invalid, strconv.ErrRange) {
				err = fmt.Errorf("invalid argument %q for \"--%s\" flag: it is too large", invalid.GetValue(), f.Name)
			}
		}
	}
	if unknown := (*pflag.NotExistError)(nil); errors.As(err, &unknown) {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
		err = fmt.Errorf("%w%s", err, strictyaml.DidYouMean("--"+unknown.GetSpecifiedName(), names))
	}
	return UsageError(cmd, err)
}

// numbers says what flags of package pflag's types take, where its own errors are those of
// the functions that read them.
var numbers = map[string]string{
	"int":      "a whole number",
	"uint64":   "a whole number of at least 0",
	"duration": "a duration such as 500ms or 2s, or too long",
	"bool":     "true or false",
}

// neededArgs returns the arguments in a usage line that are not in brackets, such as BASE
// in "compare [flags] BASE [HEAD]".
func neededArgs(use string) (needed []string) {
	for _, word := range strings.Fields(use)[1:] {
		if !strings.HasPrefix(word, "[") {
			needed = append(needed, strings.TrimSuffix(word, "..."))
		}
	}
	return needed
}
