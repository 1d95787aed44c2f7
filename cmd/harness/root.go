package main

import (
	"regexp"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"
)

// newRoot is the command with all its subcommands.
func newRoot(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "harness",
		Short: "Prove or refute what is claimed of a rate limiter on Redis",
		Long: `Harness drives rate limiters on Redis from simulated instances whose clocks
differ, holds every accept against token-bucket theory, and leaves a report
with the history as evidence.

Exit status: 0 everything as expected, 1 a verdict is not the expected one,
2 undecided, 3 bad usage or a bad file, 4 the environment failed.`,
		Example: `  harness run                             the standard suite, on whatever Redis there is
  harness run skew-drain --seed 7         one scenario, repeatable
  harness run --limiter my-limiter.yaml   the standard suite for your own limiter
  harness new limiter mine                a limiter file and its script to start from
  harness check history.jsonl --rate 100 --capacity 50
  harness capacity --target 200k          what one Redis carries, and what to buy`,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetVersionTemplate("harness {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error { return noneEmpty(c) }
	root.Args = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usagef("no command is named %s, see `harness --help`", args[0])
		}
		return nil
	}
	root.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	root.AddCommand(newRun(s), newCheck(s), newCapacity(s), newSelftest(s), newReport(s), newNew(s), newList(s))
	return root
}

// wrongValue is how package pflag says that a flag's value is of another kind.
var wrongValue = regexp.MustCompile(`^invalid argument ("(?:[^"\\]|\\.)*") for "(?:-., )?--([^"]+)" flag: `)

// flagError tells a mistake in a flag without the words of Go's parsers.
func flagError(c *cobra.Command, err error) error {
	wrong := wrongValue.FindStringSubmatch(err.Error())
	if wrong == nil {
		return usagef("%v, see `%s --help`", err, c.CommandPath())
	}
	want := "another value"
	if flag := c.Flags().Lookup(wrong[2]); flag != nil {
		switch flag.Value.Type() {
		case "uint64":
			want = "a whole number from 0 to 18446744073709551615"
		case "int":
			want = "a whole number"
		case "bool":
			want = "true or false, or nothing"
		case "duration":
			want = "a duration like 250ms or 1.5s"
		}
	}
	return usagef("--%s: want %s, got %s", wrong[2], want, wrong[1])
}

// noneEmpty refuses a flag that is given no text, as a shell does with a variable
// that is not set: it would be taken for one that was left out.
func noneEmpty(c *cobra.Command) error {
	for _, name := range []string{"rate", "capacity", "out", "redis", "limiter", "slo", "target", "keys", "headroom"} {
		flag := c.Flags().Lookup(name)
		if flag == nil || !flag.Changed {
			continue
		}
		values := []string{flag.Value.String()}
		if list, ok := flag.Value.(interface{ GetSlice() []string }); ok {
			values = list.GetSlice()
		}
		if slices.Contains(values, "") {
			return usagef("--%s is empty: give it a value or leave it out", name)
		}
	}
	return nil
}

// exactly wants n arguments, named for the error.
func exactly(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return usagef("%s is missing, see `%s --help`", names[len(args)], c.CommandPath())
		case len(args) > len(names):
			return usagef("%q is one argument too many, see `%s --help`", args[len(names)], c.CommandPath())
		}
		return nil
	}
}

// version is the module's, or the commit's where the module has none.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "devel-" + s.Value[:12]
		}
	}
	return "devel"
}
