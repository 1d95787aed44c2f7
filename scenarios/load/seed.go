package load

import (
	"math/bits"
	"math/rand/v2"
)

// mix is one output of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): it turns
// neighbouring seeds into unrelated ones.
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// newSource returns the generator of one stream of a run.
func newSource(seed, stream uint64) *rand.PCG {
	return rand.NewPCG(mix(seed), mix(stream))
}

// seedRequest makes s the generator of request n of a stream.
func seedRequest(s *rand.PCG, seed, stream, n uint64) {
	s.Seed(mix(seed)^mix(stream+1), mix(n))
}

// unit maps 64 random bits to [0, 1), in steps of 2⁻⁵³.
func unit(draw uint64) float64 { return float64(draw>>11) * 0x1p-53 }

// scale maps 64 random bits to 0 … n − 1.
func scale(draw, n uint64) uint64 {
	hi, _ := bits.Mul64(draw, n)
	return hi
}
