package lua

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"bucketproof/bucket/limiterfile"
)

//go:embed scripts/*.yaml scripts/*.lua
var scripts embed.FS

// family is the reference family, the reference first; others are the built-in
// limiters that are none of it: the reference with keys that live longer, and GCRA.
var (
	family = []string{"app-clock", "app-clock-monotonic", "redis-time"}
	others = []string{"app-clock-long-ttl", "gcra"}
)

// Names lists the limiters that [Builtin] knows, the reference first.
func Names() []string { return slices.Concat(family, others) }

// Family lists those of them that are the reference family, each of which can be
// a limiter's model.
func Family() []string { return slices.Clone(family) }

// Builtin returns the limiter file of a built-in limiter.
func Builtin(name string) (*limiterfile.File, error) {
	if names := Names(); !slices.Contains(names, name) {
		return nil, fmt.Errorf("no built-in limiter %q, known: %s", name, strings.Join(names, ", "))
	}
	path := "scripts/" + name + ".yaml"
	data, err := scripts.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("built-in limiter %s: %w", name, err)
	}
	f, err := limiterfile.Parse(path, data, func(script string) ([]byte, error) {
		return scripts.ReadFile("scripts/" + script)
	})
	if err != nil {
		return nil, fmt.Errorf("built-in limiter: %w", err)
	}
	return f, nil
}
