package load_test

import (
	"sync"
	"testing"
	"time"

	"bucketproof/scenarios/load"
)

// TestAlarmIsNotEarly: it may be late on a busy machine, but not early beyond
// the shortest wait it asks the system for.
func TestAlarmIsNotEarly(t *testing.T) {
	var alarm load.Alarm
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for _, d := range []time.Duration{-1, 0, time.Microsecond, 50 * time.Microsecond, 3 * time.Millisecond} {
				start := time.Now()
				alarm.Sleep(d)
				if took := time.Since(start); d >= 20*time.Microsecond && took < d-time.Microsecond {
					t.Errorf("Sleep(%v) took %v", d, took)
				}
			}
		})
	}
	wg.Wait()
	for range 2 {
		if err := alarm.Close(); err != nil {
			t.Error(err)
		}
		alarm.Sleep(time.Millisecond) // after a Close it begins anew
	}
	if err := alarm.Close(); err != nil {
		t.Error(err)
	}
}

// TestOpenWithAlarm: in real time nothing is sent before it is due, and
// nothing is lost.
func TestOpenWithAlarm(t *testing.T) {
	var alarm load.Alarm
	defer alarm.Close()
	d := newDriver(2, nil)
	d.Sleep = alarm.Sleep
	if err := d.Open(t.Context(), nil, load.Open{Rate: 2000, Arrivals: load.ArrivePoisson, For: 300 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	checkAccounts(t, d)
	for _, op := range d.Recorder.Operations() {
		if op.Call < op.Due {
			t.Errorf("due %d, called at %d", op.Due, op.Call)
		}
	}
}
