package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"bucketproof/bucket/check"
	"bucketproof/bucket/limiterfile"
	"bucketproof/reports"
	"bucketproof/scenarios"
)

// newList is `harness list`.
func newList(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "list [scenarios|suites|limiters|checks]",
		Short: "List scenarios, suites, limiters or checks, name first",
		Example: `  harness list
  harness list scenarios
  harness list scenario skew-drain > mine.yaml
  harness list schema limiter > limiter.schema.json`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return usagef("%q is not scenarios, suites, limiters or checks, see `harness list --help`", args[0])
		},
		RunE: func(*cobra.Command, []string) error { return listLists(s) },
	}
	c.AddCommand(
		&cobra.Command{
			Use: "scenarios", Short: "List the named scenarios and the suites they belong to", Args: exactly(),
			RunE: func(*cobra.Command, []string) error { return listScenarios(s) },
		},
		&cobra.Command{
			Use: "suites", Short: "List the suites and the scenarios in them", Args: exactly(),
			RunE: func(*cobra.Command, []string) error { return listSuites(s) },
		},
		&cobra.Command{
			Use: "limiters", Short: "List the built-in limiters", Args: exactly(),
			RunE: func(*cobra.Command, []string) error { return listLimiters(s) },
		},
		&cobra.Command{
			Use: "checks", Short: "List the checks", Args: exactly(),
			RunE: func(*cobra.Command, []string) error { return listChecks(s) },
		},
		&cobra.Command{
			Use: "scenario NAME", Short: "Print the YAML of a scenario", Args: exactly("NAME"),
			ValidArgsFunction: cobra.FixedCompletions(scenarios.Names(), cobra.ShellCompDirectiveNoFileComp),
			RunE: func(_ *cobra.Command, args []string) error {
				text, err := scenarios.Text(args[0])
				if err != nil {
					return usagef("%v, see `harness list scenarios`", err)
				}
				_, err = s.out.Write(text)
				return environment(err)
			},
		},
		listSchema(s),
	)
	return c
}

// schemas are the JSON Schemas that are published, by what they are of.
var schemas = map[string]func() []byte{"limiter": limiterfile.Schema, "scenario": scenarios.Schema, "results": reports.Schema}

// listSchema is `harness list schema`.
func listSchema(s streams) *cobra.Command {
	names := slices.Sorted(maps.Keys(schemas))
	return &cobra.Command{
		Use: "schema NAME", Short: "Print the JSON Schema of limiter files, scenario files or results.json",
		Long: `Schema prints a JSON Schema (draft 2020-12). An editor that is told of it completes
and checks what you write: with the YAML language server, save it beside your file
and begin that with the line

  # yaml-language-server: $schema=limiter.schema.json`,
		Example:   "  harness list schema limiter > limiter.schema.json",
		Args:      exactly("NAME"),
		ValidArgs: names,
		RunE: func(_ *cobra.Command, args []string) error {
			schema, ok := schemas[args[0]]
			if !ok {
				return usagef("there is no schema of %q, there are %s", args[0], strings.Join(names, ", "))
			}
			_, err := s.out.Write(schema())
			return environment(err)
		},
	}
}

// table prints rows of two columns.
func table(s streams, rows [][2]string) error {
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\n", r[0], r[1])
	}
	return environment(w.Flush())
}

// listLists says what can be listed, and the names in each but the long ones.
func listLists(s streams) error {
	var suites []string
	for _, name := range scenarios.Suites() {
		members, _ := scenarios.SuiteOf(name)
		suites = append(suites, fmt.Sprintf("%s (%d)", name, len(members)))
	}
	return table(s, [][2]string{
		{"scenarios", fmt.Sprintf("%d stories of load and clocks; `harness list scenarios`, and `harness list scenario NAME` prints one", len(scenarios.Names()))},
		{"suites", strings.Join(suites, ", ") + "; `harness list suites`"},
		{"limiters", fmt.Sprintf("%d built in, most of them broken on purpose; `harness list limiters`", len(builtinNames()))},
		{"checks", fmt.Sprintf("%d; `harness list checks`", len(checkRows))},
	})
}

func listScenarios(s streams) error {
	var rows [][2]string
	for _, name := range scenarios.Names() {
		sc, err := scenarios.Named(name)
		if err != nil {
			return err
		}
		about := sc.About
		if in := suitesOf(name); len(in) > 0 {
			about += " [" + strings.Join(in, ", ") + "]"
		}
		rows = append(rows, [2]string{name, about})
	}
	return table(s, rows)
}

// suitesOf are the suites that a scenario belongs to.
func suitesOf(scenario string) []string {
	var in []string
	for _, suite := range scenarios.Suites() {
		if members, _ := scenarios.SuiteOf(suite); slices.Contains(members, scenario) {
			in = append(in, suite)
		}
	}
	return in
}

func listSuites(s streams) error {
	var rows [][2]string
	for _, name := range scenarios.Suites() {
		members, _ := scenarios.SuiteOf(name)
		rows = append(rows, [2]string{name, strings.Join(members, " ")})
	}
	return table(s, rows)
}

func listLimiters(s streams) error {
	var rows [][2]string
	t := newLimiters()
	for _, name := range builtinNames() {
		l, err := t.find(name)
		if err != nil {
			return err
		}
		rows = append(rows, [2]string{name, l.about})
	}
	return table(s, rows)
}

func listChecks(s streams) error { return table(s, checkRows) }

// checkRows are the checks with what each holds a limiter to.
var checkRows = [][2]string{
	{check.OverAdmission, "no window of any length holds more than capacity + rate × length"},
	{check.SpuriousDenial, "a request is denied only if the bucket could have held too little"},
	{check.AcceptRate, "as many are granted as an ideal bucket grants for the same arrivals"},
	{check.StateAudit, "keys exist while they matter, expire neither too soon nor never, and hold levels in range"},
	{check.Accounting, "every request ends in exactly one outcome"},
	{check.Replay, "every decision and stored number is the sequential model's, bit for bit"},
	{check.Linearizability, "some order of the requests explains the answers"},
	{check.Fairness, "no instance gets less than half its share of the grants, under random arrivals"},
	{check.ReplyContract, "waiting as told is enough, and what is said to remain is there"},
}
