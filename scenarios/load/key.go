package load

import (
	"math"
	"math/rand/v2"
	"slices"
)

// KeyPicker is the key of request n of a run, counted from 0 in the order in
// which requests are offered. It is a pure function, for concurrent use.
type KeyPicker func(n uint64) string

// OneKey gives every request the same key.
func OneKey(key string) KeyPicker {
	return func(uint64) string { return key }
}

// KeysInTurn gives request n the key n mod len(keys). keys is not empty.
func KeysInTurn(keys []string) KeyPicker {
	return func(n uint64) string { return keys[n%uint64(len(keys))] }
}

// UniformKeys gives every request any of keys with the same probability. keys
// is not empty.
func UniformKeys(keys []string, seed uint64) KeyPicker {
	return func(n uint64) string { return keys[scale(keyDraw(seed, n), uint64(len(keys)))] }
}

// ZipfKeys gives a request keys[k] with a probability proportional to
// 1/(k + 1)^exponent: a few busy keys and many quiet ones. exponent 0 is
// uniform, 1 the classical law. keys is not empty.
func ZipfKeys(keys []string, exponent float64, seed uint64) KeyPicker {
	sums := make([]float64, len(keys))
	sum := 0.0
	for k := range sums {
		sum += math.Pow(float64(k+1), -exponent)
		sums[k] = sum
	}
	return func(n uint64) string {
		k, _ := slices.BinarySearch(sums, unit(keyDraw(seed, n))*sum)
		return keys[min(k, len(keys)-1)]
	}
}

// keyStream keeps the draws of keys apart from those of phases.
const keyStream = math.MaxUint64 - 1

func keyDraw(seed, n uint64) uint64 {
	var source rand.PCG
	seedRequest(&source, seed, keyStream, n)
	return source.Uint64()
}
