package history

import (
	"math"
	"math/big"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

func TestParseScaled(t *testing.T) {
	for _, test := range []struct {
		text   string
		places int
		want   int64
		exact  bool
	}{
		{"0", 0, 0, true},
		{"-0", 0, 0, true},
		{"0.000", 0, 0, true},
		{"1500", 0, 1500, true},
		{"1.5e3", 0, 1500, true},
		{"1500.0", 0, 1500, true},
		{"15e+2", 0, 1500, true},
		{"150000e-2", 0, 1500, true},
		{"0.0015e6", 0, 1500, true},
		{"1.5", 0, 2, false},
		{"1.4999", 0, 1, false},
		{"-1.5", 0, -2, false},
		{"0.05", 0, 0, false},
		{"9223372036854775807", 0, math.MaxInt64, true},
		{"9223372036854775806.5", 0, math.MaxInt64, false},
		{"0e99999999999999999999", 0, 0, true},
		{"1e-99999999999999999999", 0, 0, false},
		{"1767225600123.456789", 6, 1767225600123456789, true},
		{"1767225600123.4567894", 6, 1767225600123456789, false},
		{"1767225600123.4567895", 6, 1767225600123456790, false},
		{"1.7672256e12", 6, 1767225600000000000, true},
		{"0.000000001", 9, 1, true},
		{"-0.25", 9, -250000000, true},
		{"1000000000000000000000e-21", 0, 1, true},
	} {
		got, exact, err := parseScaled([]byte(test.text), test.places)
		if got != test.want || exact != test.exact || err != nil {
			t.Errorf("parseScaled(%s, %d) = %d, %v, %v, want %d, %v", test.text, test.places, got, exact, err, test.want, test.exact)
		}
	}
}

func TestParseScaledRefuses(t *testing.T) {
	for _, text := range []string{
		"", "-", "+1", "01", "-01", ".5", "5.", "1e", "1e+", "1.e3", "0x10", "1_000", "NaN", "Inf", "-Infinity", " 1", "1 ", "1,5", "1.2.3", "--1",
		"9223372036854775808", "9223372036854775807.5", "1e19", "1e99999999999999999999", "-9223372036854775808",
	} {
		if got, _, err := parseScaled([]byte(text), 0); err == nil {
			t.Errorf("parseScaled(%q) = %d, want an error", text, got)
		}
	}
}

// TestParseScaledAgainstRationals: the fast arithmetic is the exact one.
func TestParseScaledAgainstRationals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?(0|[1-9][0-9]{0,22})(\.[0-9]{1,22})?([eE][-+]?[0-9]{1,2})?`).Draw(t, "text")
		places := rapid.IntRange(0, 9).Draw(t, "places")
		exactly, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("%s is no number", text)
		}
		exactly.Mul(exactly, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil)))
		want, _ := new(big.Int).SetString(exactly.FloatString(0), 10) // rounds half away from zero
		got, exact, err := parseScaled([]byte(text), places)
		if !want.IsInt64() || want.Int64() == math.MinInt64 {
			if err == nil {
				t.Fatalf("parseScaled(%s, %d) = %d, want out of range", text, places, got)
			}
			return
		}
		if err != nil || got != want.Int64() || exact != exactly.IsInt() {
			t.Fatalf("parseScaled(%s, %d) = %d, %v, %v, want %v, %v", text, places, got, exact, err, want, exactly.IsInt())
		}
	})
}

func TestAppendScaledRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.Int64Range(-math.MaxInt64, math.MaxInt64).Draw(t, "value")
		places := rapid.IntRange(0, 9).Draw(t, "places")
		text := appendScaled(nil, want, places)
		got, exact, err := parseScaled(text, places)
		if err != nil || got != want || !exact {
			t.Fatalf("%d at %d places is %s, read as %d, %v, %v", want, places, text, got, exact, err)
		}
	})
}

func TestParseWholeAgainstStrconv(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.Int64Range(-math.MaxInt64, math.MaxInt64).Draw(t, "value")
		if got, err := parseWhole(strconv.AppendInt(nil, want, 10)); got != want || err != nil {
			t.Fatalf("parseWhole(%d) = %d, %v", want, got, err)
		}
	})
}
