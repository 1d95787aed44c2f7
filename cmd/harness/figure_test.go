package main

import "testing"

// TestCountsAreWhole: a suffix may make a fraction whole, and rounding in binary
// makes none.
func TestCountsAreWhole(t *testing.T) {
	for _, c := range []struct {
		text string
		want float64
	}{
		{"", 0}, {"1", 1}, {"1e3", 1000}, {"1.5k", 1500}, {"1.005k", 1005}, {"0.001k", 1}, {"4.351M", 4_351_000}, {"5M", 5_000_000}, {"9007199254740991", 1<<53 - 1},
		{"1.5", -1}, {"0.5", -1}, {"1.0005k", -1}, {"1000000000.5", -1}, {"0.9999999k", -1}, {"0", -1}, {"many", -1},
	} {
		got, err := whole("--keys", c.text)
		switch {
		case c.want < 0 && (err == nil || statusOf(err) != statusUsage):
			t.Errorf("%s is taken for %v, %v", c.text, got, err)
		case c.want >= 0 && (err != nil || got != c.want):
			t.Errorf("%s is %v, %v, want %v", c.text, got, err, c.want)
		}
	}
}
