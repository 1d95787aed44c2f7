package limiterfile_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"bucketproof/bucket/limiterfile"

	"pgregory.net/rapid"
)

// TestPlacesPointAtTheMistake writes a key with a wrong name in it in each of
// YAML's styles: the line and column of the error must be where that name
// stands in the file.
func TestPlacesPointAtTheMistake(t *testing.T) {
	styles := map[string]func(text string) string{
		"plain": func(s string) string {
			return "keys:\n  - p" + strings.NewReplacer("\"", "", "'", "", "\\", "").Replace(s)
		},
		"single": func(s string) string { return "keys: [ '" + strings.ReplaceAll(s, "'", "''") + "']" },
		"double": func(s string) string { return `keys: ["` + escape(s) + `"]` },
		"block":  func(s string) string { return "keys:\n  - |\n      first\n      " + s },
	}
	for name, write := range styles {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			before := rapid.StringMatching(`[a-z'"\\é世😀]{0,12}`).Draw(t, "before")
			after := rapid.StringMatching(`[a-z'"\\é]{0,5}`).Draw(t, "after")
			text := without("keys") + write(before+"${key}x${zqz}"+after) + "\n"
			_, err := limiterfile.Parse("f.yaml", []byte(text), folder)
			var e *limiterfile.Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), "unknown name `zqz`") {
				t.Fatalf("%s\ngives %v", text, err)
			}
			line := []rune(strings.Split(text, "\n")[e.Line-1])
			if e.Column > len(line) || !strings.HasPrefix(string(line[e.Column-1:]), "zqz}") {
				t.Fatalf("%s\n%v points at column %d of %q", text, err, e.Column, string(line))
			}
		}))
	}
}

// escape writes a text for double quotes, with every kind of escape.
func escape(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '"' || r == '\\':
			fmt.Fprintf(&b, `\%c`, r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		case r > 0x7f && i%2 == 0:
			fmt.Fprintf(&b, `\u%04x`, r)
		case r == 'a':
			b.WriteString(`\x61`)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
