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

// names are the built-in limiters, the reference first.
var names = []string{"app-clock", "app-clock-monotonic", "redis-time"}

// Names lists the limiters that [Builtin] knows, the reference first.
func Names() []string { return slices.Clone(names) }

// Builtin returns the limiter file of a built-in limiter.
func Builtin(name string) (*limiterfile.File, error) {
	if !slices.Contains(names, name) {
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
