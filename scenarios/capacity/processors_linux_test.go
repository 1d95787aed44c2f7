package capacity

import "testing"

const procStat = `cpu  99 99 99 99 99 99 99 99 99 99
cpu0 10 20 30 400 50 6 7 8 900 1000
cpu1 1 2 3 40 5 6 7 8 0 0
intr 5 6 7 8 9 10 11 12 13
ctxt 1
`

func TestParseProcessors(t *testing.T) {
	for _, c := range []struct {
		may  func(int) bool
		want processorTime
	}{
		{func(int) bool { return true }, processorTime{idle: 495, all: 603}},
		{func(n int) bool { return n == 0 }, processorTime{idle: 450, all: 531}},
		{func(n int) bool { return n == 1 }, processorTime{idle: 45, all: 72}},
	} {
		if got, err := parseProcessors(procStat, c.may); err != nil || got != c.want {
			t.Errorf("%+v, %v; want %+v", got, err, c.want)
		}
	}
	for _, text := range []string{"", "cpu0 1 2 3", "cpu 1 2 3 4 5 6 7 8", "cpu0 1 2 x 4 5 6 7 8"} {
		if _, err := parseProcessors(text, func(int) bool { return true }); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}
