//go:build !linux

package load

import "time"

// Alarm sleeps as exactly as the system allows. The zero Alarm is ready to
// use, also concurrently. It is for real time only.
type Alarm struct{}

// Sleep is time.Sleep.
func (a *Alarm) Sleep(t time.Duration) { time.Sleep(t) }

// Close does nothing.
func (a *Alarm) Close() error { return nil }
