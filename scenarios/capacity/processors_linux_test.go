package capacity

import "testing"

func TestParseProcessors(t *testing.T) {
	got, err := parseProcessors("cpu  10 20 30 400 50 6 7 8 900 1000")
	if want := (processorTime{idle: 450, all: 531}); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	for _, line := range []string{"", "cpu 1 2 3", "cpu0 1 2 3 4 5 6 7 8", "cpu 1 2 x 4 5 6 7 8"} {
		if _, err := parseProcessors(line); err == nil {
			t.Errorf("%q was read", line)
		}
	}
}
