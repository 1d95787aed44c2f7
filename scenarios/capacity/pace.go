package capacity

import "time"

// Pace is how long and how finely is measured.
type Pace struct {
	plain      []int   // callers of the sweep's levels
	pipelined  []int   // the same, over the pipeline
	rounds     int     // of the whole sweep, there and back in turn
	level      stretch // a round of a level
	step       stretch // a rate of the knee
	steps      int     // of a knee's search, about the most
	growth     float64 // of the rate from a step to the next
	resolution float64 // of the knee
	contrast   stretch // a turn of a contrast; there are four
	keys       int     // buckets that a step asks
	many       int     // buckets of "many keys"
	buckets    []int   // whose memory is measured; two or more
	pipeKnee   bool    // search the pipelined callers' knee, too
	cluster    bool    // compare one server with a cluster, too
}

// Full is for figures to plan by: some four minutes a limiter.
func Full() Pace {
	return Pace{
		plain: []int{1, 2, 4, 8, 16, 32, 64, 128, 256}, pipelined: []int{1, 4, 16, 64, 256, 1024}, rounds: 3,
		level: stretch{200 * time.Millisecond, 1200 * time.Millisecond},
		step:  stretch{400 * time.Millisecond, 2 * time.Second},
		steps: 20, growth: 1.15, resolution: 1.035, contrast: stretch{200 * time.Millisecond, 1300 * time.Millisecond},
		keys: 4096, many: 20_000, buckets: []int{10_000, 100_000, 1_000_000}, pipeKnee: true, cluster: true,
	}
}

// Quick is for a first answer: some 27 seconds a limiter.
func Quick() Pace {
	return Pace{
		plain: []int{1, 2, 4, 8, 16, 32, 64, 128}, pipelined: []int{4, 32, 128, 512}, rounds: 2,
		level: stretch{70 * time.Millisecond, 180 * time.Millisecond},
		step:  stretch{150 * time.Millisecond, 550 * time.Millisecond},
		steps: 13, growth: 1.2, resolution: 1.05, contrast: stretch{80 * time.Millisecond, 250 * time.Millisecond},
		keys: 2048, many: 10_000, buckets: []int{4_000, 12_000, 40_000},
	}
}

// Brief is the pace with steps a tenth as long, for a limiter in this process: it
// decides a million requests a second, and all of them are recorded and judged.
func (p Pace) Brief() Pace {
	for _, s := range []*stretch{&p.level, &p.step, &p.contrast} {
		s.warm, s.counted = s.warm/10, s.counted/10
	}
	return p
}

// Patient is the pace with load of twice the length, for a limiter that has a
// command's time to itself.
func (p Pace) Patient() Pace {
	for _, s := range []*stretch{&p.step, &p.contrast} {
		s.warm, s.counted = 2*s.warm, 2*s.counted
	}
	p.level.counted += p.level.counted / 2
	p.rounds++
	return p
}

// Estimates for the progress bar.
const (
	fillPerSecond = 25_000 // buckets
	turns         = 4      // of a contrast
)

func (p Pace) knees() int {
	if p.pipeKnee {
		return 2
	}
	return 1
}

// search is how long a step of the search takes, with the closed loop before it.
func (p Pace) search() time.Duration { return p.level.length() + p.step.length() }

func (p Pace) fillTime(buckets int) time.Duration {
	return time.Duration(float64(buckets) / fillPerSecond * float64(time.Second))
}

// length is how long a measurement takes, about, of a limiter whose buckets can
// be weighed or not.
func (p Pace) length(weighed bool) time.Duration {
	all := p.level.length() * time.Duration((len(p.plain)+len(p.pipelined))*p.rounds)
	all += p.search() * time.Duration(p.steps*p.knees())
	all += p.contrast.length() * turns
	if p.cluster {
		all += p.contrast.length() * turns
	}
	for _, n := range p.buckets {
		if weighed {
			all += p.fillTime(n)
		}
	}
	return all
}
