//go:build !unix

package capacity

// ownTime is not known here.
func ownTime() float64 { return 0 }
