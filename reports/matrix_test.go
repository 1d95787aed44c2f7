package reports

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSymbolsOfManyRunsAreCounted(t *testing.T) {
	few := []mark{{State: passed}, {State: unexpected}, {State: passed}}
	many := []mark{{State: undecided}, {State: unexpected}}
	for range mostSymbols {
		many = append(many, mark{State: passed})
	}
	for _, c := range []struct {
		marks []mark
		want  string
	}{
		{nil, ""}, {few, "✓✗✓"}, {many, "✗1 ?1 ✓10"}, {many[2:], "✓✓✓✓✓✓✓✓✓✓"},
	} {
		got := ""
		for _, s := range symbols(c.marks) {
			got += s.Text
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%d marks: -want +got\n%s", len(c.marks), diff)
		}
	}
	if got, want := (ink{}).cell(many, 12), "✗1 ?1 ✓10   "; got != want {
		t.Errorf("cell %q, want %q", got, want)
	}
}
