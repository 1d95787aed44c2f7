package capacity

import "math/rand/v2"

func newNoise(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) }
