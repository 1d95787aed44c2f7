// Package capacity finds what one Redis can carry with a limiter on it: how
// throughput grows with concurrency and where it bends, the highest rate that
// meets an objective, what was the bottleneck, what a bucket costs in memory,
// and what to buy for a target. It measures through interfaces of its own; it
// does not know go-redis.
package capacity

// Result is what was found out about one limiter; it stands in results.json as
// one element of "capacity".
type Result struct {
	Limiter     string     `json:"limiter"`
	Limit       Limit      `json:"limit"`       // of every bucket that is asked, but for the memory
	Connections []Level    `json:"connections"` // the closed-loop sweep, plain and pipelined
	USL         USL        `json:"usl"`         // fitted to the plain levels
	Knee        Knee       `json:"knee"`        // of plain callers
	Pipelined   *Knee      `json:"knee_pipelined,omitempty"`
	Memory      Memory     `json:"memory"`
	Cost        Cost       `json:"cost"`
	Compare     []Contrast `json:"compare,omitempty"` // one hot key against many, standalone against a cluster
	Plan        *Plan      `json:"plan"`              // null without a target
	Generator   *Generator `json:"generator"`         // how well the open loop kept its schedule
	Verified    *Verified  `json:"verified"`          // what the checks said about the recorded history
	Notes       []string   `json:"notes,omitempty"`   // what qualifies the figures
}

// Limit is a rate in tokens a second and a capacity in tokens.
type Limit struct {
	Rate     float64 `json:"rate"`
	Capacity float64 `json:"capacity"`
}

// Level is one step of the closed-loop sweep.
type Level struct {
	N             int     `json:"n"`                // callers that each wait for their reply
	Pipelined     bool    `json:"pipelined"`        // over the client's auto-pipeliner, few connections
	Depth         int     `json:"depth,omitempty"`  // most commands a pipeline carries: one of each caller; 0: not pipelined
	ThroughputPS  float64 `json:"throughput_per_s"` // decisions a second
	P50US         float64 `json:"p50_us"`
	P99US         float64 `json:"p99_us"`
	RedisCPU      float64 `json:"redis_cpu"`      // of the server's main thread, 0..1; 0 where it does not tell
	GeneratorIdle float64 `json:"generator_idle"` // share of the processors that the generator may use that were idle, 0..1
}

// USL is Gunther's Universal Scalability Law,
// X(n) = λn / (1 + σ(n − 1) + κn(n − 1)).
type USL struct {
	Lambda float64           `json:"lambda"` // decisions a second of one caller alone
	Sigma  float64           `json:"sigma"`  // contention, 0..1
	Kappa  float64           `json:"kappa"`  // crosstalk, 0 or more
	PeakN  float64           `json:"peak_n"` // callers at the fitted peak; 0: no peak (κ is 0)
	PeakPS float64           `json:"peak_per_s"`
	CI95   map[string]Bounds `json:"ci95"` // of lambda, sigma, kappa, peak_per_s
	R2     float64           `json:"r2"`
	Why    string            `json:"why,omitempty"` // there is no fit, or not to be trusted, and why
}

// Bounds is a confidence interval.
type Bounds struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Knee is the highest rate of an open loop that meets an objective.
type Knee struct {
	SLO       string   `json:"slo"`
	RatePS    *float64 `json:"rate_per_s"` // null: refused
	MetPS     float64  `json:"met_per_s"`  // the highest rate that met the objective, also where the knee is refused; 0: none
	LimitedBy string   `json:"limited_by"` // redis | generator | none
	Why       string   `json:"why"`
	PeakPS    float64  `json:"closed_loop_per_s"` // the closed loop's best level of such callers
	InFlight  int      `json:"in_flight"`         // callers that the open loop has at most, that level's or more
	Steps     []Step   `json:"steps"`             // every rate tried, in the order tried
}

// Step is one rate of the search.
type Step struct {
	RatePS     float64 `json:"rate_per_s"`
	AchievedPS float64 `json:"achieved_per_s"`
	ClosedPS   float64 `json:"closed_loop_per_s"` // of the closed loop's best level, just before
	P50US      float64 `json:"p50_us"`            // from the due time
	P90US      float64 `json:"p90_us"`
	P99US      float64 `json:"p99_us"`
	P999US     float64 `json:"p999_us"`
	MaxUS      float64 `json:"max_us"`
	MeanUS     float64 `json:"mean_us"`
	ServiceP99 float64 `json:"service_p99_us"`        // from the call
	LagP99US   float64 `json:"lag_p99_us"`            // from the due time to the call, where a caller was free
	OnTime     float64 `json:"on_time"`               // share of sends within 1 ms of their due time, where a caller was free, 0..1
	Queued     float64 `json:"queued"`                // share of sends that waited for a free caller, 0..1
	Errors     float64 `json:"errors"`                // share of requests without a usable answer, 0..1
	RedisCPU   float64 `json:"redis_cpu"`             // of the server's main thread, 0..1
	Idle       float64 `json:"generator_idle"`        // share of the processors that the generator may use that were idle, 0..1
	RedisUS    float64 `json:"redis_us_per_call"`     // of the server's main thread
	OwnUS      float64 `json:"generator_us_per_call"` // processor time of the generator
	Others     float64 `json:"others"`                // processors that other programs of this machine took; 0 where Redis is elsewhere
	Verdict    string  `json:"verdict"`               // met | missed | refused
	Why        string  `json:"why,omitempty"`
}

// Memory is what buckets cost the server.
type Memory struct {
	BytesPerKey float64       `json:"bytes_per_key"` // slope of used memory over keys, hash tables included
	IdleKeyS    float64       `json:"idle_key_s"`    // how long a bucket nobody asks stays, its TTL; -1: for ever
	EntryBytes  float64       `json:"entry_bytes"`   // of bytes_per_key what is the bucket's alone, without its slots in the server's hash tables
	KeyBytes    float64       `json:"key_bytes"`     // length of a key's name, mean; part of the above
	UsageBytes  float64       `json:"usage_bytes"`   // MEMORY USAGE of a key, mean of a sample; less than a key costs
	Points      []MemoryPoint `json:"points"`
	Why         string        `json:"why,omitempty"` // not measured, and why
}

// MemoryPoint is used memory with a number of buckets.
type MemoryPoint struct {
	Keys      int     `json:"keys"`            // buckets
	UsedBytes float64 `json:"used_bytes"`      // above what the empty server used
	Predicted float64 `json:"predicted_bytes"` // from the smaller counts; 0: was used to predict
}

// Cost is what one decision costs.
type Cost struct {
	RedisUSPerCall  float64 `json:"redis_us_per_call"`  // main thread, all of it: system and user time over calls
	CommandUS       float64 `json:"command_us"`         // inside the command alone, as INFO commandstats has it
	NetBytesPerCall float64 `json:"net_bytes_per_call"` // in and out, seen by the server
}

// Contrast is one workload in two ways.
type Contrast struct {
	What    string  `json:"what"` // "one hot key against many", …
	A       string  `json:"a"`
	B       string  `json:"b"`
	APerS   float64 `json:"a_per_s"`
	BPerS   float64 `json:"b_per_s"`
	Detail  string  `json:"detail"`
	Skipped string  `json:"skipped,omitempty"` // not measured, and why
}

// Generator is what the load generator itself managed.
type Generator struct {
	CeilingPS float64 `json:"ceiling_per_s"` // decisions a second against the bucket in this process
	OnTime    float64 `json:"on_time"`       // share of all open-loop sends within 1 ms of their due time
	LagP99US  float64 `json:"lag_p99_us"`
}

// Verified is what the checks said of the load's own history.
type Verified struct {
	Operations int64  `json:"operations"`
	Verdict    string `json:"verdict"` // pass | fail | undecided
	Detail     string `json:"detail"`
	Dir        string `json:"dir,omitempty"` // of the history, relative to results.json
}

// Plan is what to buy for a target, with every formula and its inputs.
type Plan struct {
	TargetPS    float64   `json:"target_per_s"`
	Keys        float64   `json:"keys"`     // live buckets
	Headroom    float64   `json:"headroom"` // share of a shard that is kept free, 0..1
	Shards      int       `json:"shards"`
	MemoryBytes float64   `json:"memory_bytes"` // of each shard
	Connections int       `json:"connections"`  // to each shard
	Instances   int       `json:"instances"`    // of a service like this generator
	Formulas    []Formula `json:"formulas"`
	Unmeasured  []string  `json:"unmeasured"`        // what the plan does not know
	Refused     string    `json:"refused,omitempty"` // why there are no figures
}

// Formula is one line of the plan's arithmetic.
type Formula struct {
	Name   string  `json:"name"`
	Text   string  `json:"text"`   // "⌈target ÷ (knee × (1 − headroom))⌉"
	Inputs string  `json:"inputs"` // "200,000 ÷ (41,200 × 0.6)", where each was measured
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
}
