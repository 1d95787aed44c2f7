package backend

import (
	"strings"
	"testing"
	"time"
)

func TestProlong(t *testing.T) {
	for command, want := range map[string]string{
		"PEXPIRE k 50":            "PEXPIRE k 53",
		"PEXPIRE k 50 NX":         "PEXPIRE k 53 NX",
		"EXPIRE k 2":              "PEXPIRE k 2003",
		"EXPIREAT k 1764547200":   "PEXPIREAT k 1764547200003",
		"PEXPIREAT k 17645472001": "PEXPIREAT k 17645472004",
		"SETEX k 2 v":             "PSETEX k 2003 v",
		"PSETEX k 2 v":            "PSETEX k 5 v",
		"SET k v PX 10 NX":        "SET k v PX 13 NX",
		"SET k v nx ex 1":         "SET k v nx PX 1003",
		"SET k v EXAT 1764547200": "SET k v PXAT 1764547200003",
		"SET k PX px 7":           "SET k PX PX 10",
		"GETEX k EX 1":            "GETEX k PX 1003",

		"SET k v": "", "SET k EX": "", "SET k EX 10": "", "GETEX k": "", "GETEX k PERSIST": "", "SET": "", "SET k v PX": "",
		"EXPIRE k": "", "EXPIRE k 0": "", "PEXPIRE k -1": "", "PEXPIRE k 1.5": "", "PEXPIRE k x": "",
		"EXPIRE k 9223372036854776": "", "PEXPIRE k 9223372036854775807": "", "HSET k ex 5": "",
	} {
		words := strings.Fields(command)
		longer, ok := prolong(words[0], words[1:], 2100*time.Microsecond)
		if got := strings.Join(longer, " "); got != want || ok != (want != "") {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}
