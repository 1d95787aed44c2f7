package capacity

import "testing"

func TestTableBytes(t *testing.T) {
	for n, want := range map[float64]float64{0: 0, 1: 32, 4: 32, 5: 64, 16384: 131072, 16385: 262144, 1e6: 8 << 20, 1 << 20: 8 << 20, 1<<20 + 1: 16 << 20} {
		if got := tableBytes(n); got != want {
			t.Errorf("%v entries: %v bytes, want %v", n, got, want)
		}
	}
}

func TestCountKeys(t *testing.T) {
	got := countKeys(map[string]string{"db0": "keys=3,expires=2,avg_ttl=5", "db15": "keys=10,expires=0", "dbs": "keys=9", "used_memory": "1"})
	if want := (keyCount{13, 2}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
