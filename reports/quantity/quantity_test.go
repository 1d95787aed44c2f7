package quantity

import (
	"math"
	"testing"
	"time"
)

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		v    float64
		want string
	}{
		{0, "0"},
		{math.Copysign(0, -1), "0"},
		{1, "1"},
		{-1.25, "-1.25"},
		{49.6434, "49.6"},
		{53.1, "53.1"},
		{74, "74"},
		{99.96, "100"},
		{999.4, "999.4"},
		{1050, "1,050"},
		{1234567.8, "1,234,568"},
		{-1234, "-1,234"},
		{0.0213, "0.021"},
		{0.99, "0.99"},
		{0.00012, "0.00012"},
		{1e-7, "1e-07"},
		{1e17, "1e+17"},
		{math.NaN(), "unknown"},
		{math.Inf(1), "unknown"},
	} {
		if got := Number(c.v); got != c.want {
			t.Errorf("Number(%v) = %q, want %q", c.v, got, c.want)
		}
	}
}

func TestSeconds(t *testing.T) {
	for _, c := range []struct {
		s    float64
		want string
	}{
		{0, "0 s"},
		{25e-9, "25 ns"},
		{0.9e-6, "900 ns"},
		{0.0005, "500 µs"},
		{0.5, "500 ms"},
		{-0.25, "-250 ms"},
		{0.9999, "1 s"},
		{2.4, "2.4 s"},
		{119, "119 s"},
		{3600, "60 min"},
		{43200, "12 h"},
		{86400 * 3650, "3,650 d"},
	} {
		if got := Seconds(c.s); got != c.want {
			t.Errorf("Seconds(%v) = %q, want %q", c.s, got, c.want)
		}
	}
}

func TestWords(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Tokens(1), "1 token"},
		{Tokens(49.64), "49.6 tokens"},
		{Things(0, "run"), "0 runs"},
		{Things(1, "run"), "1 run"},
		{Count(1234567), "1,234,567"},
		{Count(-1000), "-1,000"},
		{Rate(100), "100/s"},
		{Percent(0.5), "50 %"},
		{Micros(1234), "1.23 ms"},
		{Signed(-0.25), "−250 ms"},
		{Signed(0.25), "+250 ms"},
		{Instant(time.Time{}), "unknown"},
		{Instant(time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("x", 3600))), "2026-01-02 02:04:05 UTC"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestBytes(t *testing.T) {
	for _, c := range []struct {
		v    float64
		want string
	}{
		{0, "0 bytes"}, {1, "1 byte"}, {512, "512 bytes"}, {165.5, "165.5 bytes"}, {999.4, "999.4 bytes"}, {999.6, "1 kB"}, {12_435_776, "12.4 MB"}, {58e9, "58 GB"}, {3e15, "3,000 TB"},
		{math.NaN(), "unknown"}, {math.Inf(1), "unknown"},
	} {
		if got := Bytes(c.v); got != c.want {
			t.Errorf("%v: %q, want %q", c.v, got, c.want)
		}
	}
}
