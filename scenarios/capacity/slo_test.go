package capacity

import "testing"

func TestParseSLO(t *testing.T) {
	slo, err := ParseSLO("p99=5ms, errors=0.1%,max=1s")
	if err != nil {
		t.Fatal(err)
	}
	if slo.String() != "p99=5ms,errors=0.1%,max=1s" || slo.tightest() != 5000 {
		t.Errorf("%v %v", slo, slo.tightest())
	}
	for _, c := range []struct {
		step Step
		want string
	}{
		{Step{P99US: 5000, Errors: 0.001, MaxUS: 1e6}, ""},
		{Step{P99US: 5100}, "p99 is 5.1 ms, at most 5 ms is allowed"},
		{Step{P99US: 5000, Errors: 0.002}, "errors are 0.2 %, at most 0.1 % are allowed"},
		{Step{P999US: 9e9, P50US: 9e9}, ""},
		{Step{P99US: 9000, MaxUS: 2e6}, "p99 is 9 ms, at most 5 ms is allowed, max is 2 s, at most 1 s is allowed"},
	} {
		if got := slo.missed(&c.step); got != c.want {
			t.Errorf("%+v: %q, want %q", c.step, got, c.want)
		}
	}
}

func TestParseSLORefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                    `"" is no clause, write them like p99=5ms,errors=0.1%`,
		"p99":                 `"p99" is no clause, write them like p99=5ms,errors=0.1%`,
		"p99=5ms,":            `"" is no clause, write them like p99=5ms,errors=0.1%`,
		"p95=5ms":             "p95 cannot be bounded, only p50, p90, p99, p999, max, mean and errors can",
		"p99=5":               `p99: "5" is no duration, write one like 5ms or 1.5s`,
		"p99=-5ms":            "p99: -5ms is not above 0",
		"p99=0s":              "p99: 0s is not above 0",
		"errors=x":            `errors: "x" is no share, write one like 0.1% or 0.001`,
		"errors=101%":         "errors: 101% is not between 0 and 100 %",
		"errors=1.5":          "errors: 1.5 is not between 0 and 100 %",
		"errors=NaN":          `errors: "NaN" is no share, write one like 0.1% or 0.001`,
		"p99=5ms,p99=6ms":     "p99 is given twice",
		"latency=1ms,p99=2ms": "latency cannot be bounded, only p50, p90, p99, p999, max, mean and errors can",
	} {
		if _, err := ParseSLO(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
