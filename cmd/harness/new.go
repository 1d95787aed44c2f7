package main

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"bucketproof/bucket/limiterfile"
)

// templates are the files to start from; NAME in them is the limiter's name.
//
//go:embed templates/limiter.yaml templates/limiter.lua
var templates embed.FS

// newNew is `harness new`.
func newNew(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:     "new limiter NAME",
		Short:   "Make a commented limiter file to start from",
		Example: "  harness new limiter mine",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("%q cannot be made, see `harness new --help`", args[0])
			}
			return usagef("what to make is missing: `harness new limiter NAME`")
		},
		RunE: func(*cobra.Command, []string) error { return nil },
	}
	c.AddCommand(&cobra.Command{
		Use:   "limiter NAME",
		Short: "Write NAME.yaml and NAME.lua, a token bucket that passes, into this folder",
		Long: `Limiter writes NAME.yaml and NAME.lua into the folder you are in: a limiter file
with every field explained and the script it names, a token bucket on Redis TIME.
They run as they are and pass. Nothing is overwritten.`,
		Example: "  harness new limiter mine && harness run --limiter mine.yaml",
		Args:    exactly("NAME"),
		RunE:    func(_ *cobra.Command, args []string) error { return makeLimiter(s, args[0]) },
	})
	return c
}

// makeLimiter writes a limiter's files into the working folder.
func makeLimiter(s streams, name string) error {
	for _, ext := range []string{".yaml", ".yml", ".lua"} {
		if base, ok := strings.CutSuffix(name, ext); ok {
			return usagef("give the name without %s: `harness new limiter %s`", ext, base)
		}
	}
	texts := map[string]string{}
	for _, ext := range []string{".yaml", ".lua"} {
		text, err := templates.ReadFile(path.Join("templates", "limiter"+ext))
		if err != nil {
			return err
		}
		texts[name+ext] = strings.ReplaceAll(string(text), "NAME", name)
	}
	open := func(script string) ([]byte, error) { return []byte(texts[script]), nil }
	_, err := limiterfile.Parse(name+".yaml", []byte(texts[name+".yaml"]), open)
	var mistake *limiterfile.Error
	if errors.As(err, &mistake) { // the name is the only thing in it that can be wrong
		return usage(fmt.Errorf("limiter %q: %s", name, mistake.What))
	}
	if err := writeNew(texts, name+".yaml", name+".lua"); err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "wrote %s.yaml and %s.lua; now: harness run --limiter %s.yaml\n", name, name, name)
	return environment(err)
}

// writeNew writes all the files, or none when one of them is there already.
func writeNew(texts map[string]string, names ...string) (err error) {
	var made []string
	defer func() {
		for _, name := range made {
			if err != nil {
				_ = os.Remove(name)
			}
		}
	}()
	for _, name := range names {
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		switch {
		case errors.Is(err, fs.ErrExist):
			return usagef("%s is there already and is not overwritten: take another name, or move it away", name)
		case err != nil:
			return environment(fmt.Errorf("write a limiter: %w", err))
		}
		made = append(made, name)
		_, err = f.WriteString(texts[name])
		if err = errors.Join(err, f.Close()); err != nil {
			return environment(fmt.Errorf("write a limiter: %w", err))
		}
	}
	return nil
}
