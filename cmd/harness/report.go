package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"bucketproof/reports"
)

// newReport is `harness report`.
func newReport(s streams) *cobra.Command {
	return &cobra.Command{
		Use:     "report DIR",
		Short:   "Render a result folder again",
		Long:    "Report renders report.html, report.md, junit.xml and the plots again, from results.json and the histories beside it.",
		Example: "  harness report out/latest",
		Args:    exactly("DIR"),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := reports.Read(args[0])
			if err != nil {
				return usage(err)
			}
			if err := reports.Write(args[0], r, histories(args[0])); err != nil {
				return environment(err)
			}
			fmt.Fprintln(s.out, filepath.Join(args[0], "report.html"))
			return nil
		},
	}
}
