package lua

import "strings"

// unfit are commands that cannot be a limiter, whatever they answer, by why.
var unfit = map[string][]string{
	"it makes the connection a stream, or a part of one, that answers no more calls": {
		"SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "MONITOR", "SYNC", "PSYNC",
	},
	"it belongs to a transaction around other calls": {"MULTI", "EXEC", "DISCARD", "WATCH", "UNWATCH"},
	"it changes the connection and no bucket":        {"AUTH", "CLIENT", "HELLO", "QUIT", "RESET", "SELECT", "READONLY", "READWRITE", "ASKING"},
	"it concerns the whole server, which others may use": {
		"ACL", "BGREWRITEAOF", "BGSAVE", "CLUSTER", "CONFIG", "DEBUG", "FAILOVER", "FLUSHALL", "FLUSHDB", "MIGRATE", "MODULE",
		"REPLICAOF", "SAVE", "SHUTDOWN", "SLAVEOF", "SWAPDB",
	},
}

// whyUnfit says why a command cannot be a limiter; "" when it can.
func whyUnfit(command string) string {
	for why, names := range unfit {
		for _, name := range names {
			if strings.EqualFold(name, command) {
				return why
			}
		}
	}
	return ""
}
