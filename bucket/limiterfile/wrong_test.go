package limiterfile_test

import (
	"errors"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"bucketproof/bucket/limiterfile"
)

// folder stands for the folder beside a limiter file.
func folder(script string) ([]byte, error) {
	switch script {
	case "ok.lua":
		return []byte("return 1\n"), nil
	case "empty.lua":
		return []byte(" \n"), nil
	}
	return nil, &fs.PathError{Op: "open", Path: script, Err: fs.ErrNotExist}
}

// good is a limiter file without a mistake, as lines that a case changes.
const good = `name: good
script: ok.lua
keys: ["rl:${key}"]
args: [rate, capacity, now_ms]
reply: {allowed: reply == 1}
`

// with is good with one line in place of the line that begins with the same
// field, or added to it.
func with(lines ...string) string {
	out := strings.SplitAfter(good, "\n")
	for _, line := range lines {
		field, _, _ := strings.Cut(line, ":")
		replaced := false
		for i := range out {
			if strings.HasPrefix(out[i], field+":") {
				out[i], replaced = line+"\n", true
			}
		}
		if !replaced {
			out = append(out, line+"\n")
		}
	}
	return strings.Join(out, "")
}

// without is good without the line of a field.
func without(field string) string {
	var out []string
	for _, line := range strings.SplitAfter(good, "\n") {
		if !strings.HasPrefix(line, field+":") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "")
}

var wrong = []struct{ name, file, want string }{
	{"empty file", "",
		"f.yaml:1:1: the file is empty; `name`, `script`, `keys` and `reply` are needed at least"},
	{"only a comment", "# nothing\n",
		"f.yaml:1:1: the file is empty; `name`, `script`, `keys` and `reply` are needed at least"},
	{"too large", strings.Repeat("#", 256<<10+1),
		`f.yaml:1:1: the file has 262145 bytes, more than 262144; a long script belongs into a file of its own`},
	{"a list", "- name\n",
		`f.yaml:1:1: the limiter file is a list, want fields: name, contract, script, source, command, http, exec, keys, args, reply, time, granularity, state, model, limit, expect`},
	{"plain text", "hello\n",
		`f.yaml:1:1: the limiter file is text, want fields: name, contract, script, source, command, http, exec, keys, args, reply, time, granularity, state, model, limit, expect`},
	{"two documents", good + "---\nname: second\n",
		`f.yaml:7:1: a second document begins here; one file holds one limiter`},
	{"unknown field", with("grannularity: 1ms"),
		"f.yaml:6:1: unknown field `grannularity` in the limiter file, did you mean `granularity`?"},
	{"unknown field, far off", with("colour: red"),
		"f.yaml:6:1: unknown field `colour` in the limiter file, known: name, contract, script, source, command, http, exec, keys, args, reply, time, granularity, state, model, limit, expect"},
	{"duplicate field", good + "name: again\n",
		"f.yaml:6:1: duplicate field `name`, first given in line 1; remove one"},
	{"duplicate inner field", with("limit: {rate: 1, rate: 2}"),
		"f.yaml:6:18: duplicate field `rate`, first given in line 6; remove one"},
	{"field without a value", with("model:"),
		"f.yaml:6:1: field `model` has no value; give one or remove the field"},
	{"field that is a number", with("7: x"),
		"f.yaml:6:1: `7` is no field name, want names: name, contract, script, source, command, http, exec, keys, args, reply, time, granularity, state, model, limit, expect"},
	{"anchor", with("contract: &c token-bucket"),
		"f.yaml:6:11: `contract` is an anchor or an alias (not used in limiter files: write the value out), want one of token-bucket, sliding-window, fixed-window"},
	{"tag", with("contract: !!str token-bucket"),
		"f.yaml:6:11: `contract` is a tagged value (not used in limiter files: remove the `!` tag), want one of token-bucket, sliding-window, fixed-window"},
	{"no name", without("name"),
		"f.yaml:1:1: `name` is missing; add a line such as `name: my-limiter`"},
	{"name with a slash", with("name: a/b"),
		"f.yaml:1:7: name \"a/b\" cannot name a folder; use 1 to 64 letters, digits, `.`, `_` or `-`, a letter or digit first, no `.` last"},
	{"name that climbs", with("name: .."),
		"f.yaml:1:7: name \"..\" cannot name a folder; use 1 to 64 letters, digits, `.`, `_` or `-`, a letter or digit first, no `.` last"},
	{"name with a blank", with("name: 'my limiter'"),
		"f.yaml:1:7: name \"my limiter\" cannot name a folder; use 1 to 64 letters, digits, `.`, `_` or `-`, a letter or digit first, no `.` last"},
	{"name too long", with("name: " + strings.Repeat("x", 65)),
		"f.yaml:1:7: name \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\" cannot name a folder; use 1 to 64 letters, digits, `.`, `_` or `-`, a letter or digit first, no `.` last"},
	{"name that is a list", with("name: [a]"),
		"f.yaml:1:7: `name` is a list, want text"},
	{"unknown contract", with("contract: token-bukket"),
		"f.yaml:6:11: unknown contract `token-bukket`, did you mean `token-bucket`?"},
	{"contract that is a number", with("contract: 7"),
		"f.yaml:6:11: `contract` is the number 7, want one of token-bucket, sliding-window, fixed-window"},
	{"unknown time", with("time: sever"),
		"f.yaml:6:7: unknown time `sever`, did you mean `server`?"},
	{"granularity without a unit", with("granularity: 1"),
		"f.yaml:6:14: granularity `1` is no duration; write a number with a unit, such as 1ms or 1us"},
	{"granularity of zero", with("granularity: 0s"),
		"f.yaml:6:14: granularity `0s` is not above 0; a clock has a smallest step, such as 1ms or 1us"},
	{"granularity below zero", with("granularity: -1ms"),
		"f.yaml:6:14: granularity `-1ms` is not above 0; a clock has a smallest step, such as 1ms or 1us"},
	{"no kind", without("script"),
		`f.yaml:1:1: nothing says how the limiter is asked; add one of script, source, command, http, exec`},
	{"two kinds", with("source: return 1"),
		"f.yaml:6:1: `source` beside `script`: a limiter is asked in one way; keep one of them"},
	{"script and command", with("command: [PING]"),
		"f.yaml:6:1: `command` beside `script`: a limiter is asked in one way; keep one of them"},
	{"missing script", with("script: nosuch.lua"),
		"f.yaml:2:9: script `nosuch.lua`: open nosuch.lua: file does not exist; the name counts from this file's folder"},
	{"empty script", with("script: empty.lua"),
		"f.yaml:2:9: script `empty.lua` is empty; put the limiter's Lua into it"},
	{"script without a name", with(`script: ""`),
		"f.yaml:2:9: `script` is empty, want the name of a Lua file beside this one"},
	{"script that is a list", with("script: [a.lua]"),
		"f.yaml:2:9: `script` is a list, want the name of a Lua file beside this one"},
	{"empty source", without("script") + "source: \"  \"\n",
		"f.yaml:5:9: `source` is empty; put the limiter's Lua below `source: |`"},
	{"no keys", without("keys"),
		"f.yaml:1:1: `keys` is missing; add a line such as `keys: [\"rl:${key}\"]`"},
	{"keys that are text", with("keys: rl"),
		"f.yaml:3:7: `keys` is text, want a list such as [\"rl:${key}\"]"},
	{"keys without a key", with(`keys: ["rl:fixed"]`),
		"f.yaml:3:8: keys[0] does not hold `${key}`: all buckets and all runs would share it; write \"rl:${key}\""},
	{"empty keys", with("keys: []"),
		"f.yaml:3:7: `keys` is an empty list, want a list such as [\"rl:${key}\"]"},
	{"key without an end", with(`keys: ["rl:${key"]`),
		"f.yaml:3:12: keys[0]: `${` has no closing `}`; write `$${` for a literal `${`"},
	{"unknown name in a key", with(`keys: ["rl:${kee}"]`),
		"f.yaml:3:14: keys[0]: unknown name `kee`, did you mean `key`?"},
	{"unknown name in a quoted key", with(`keys: ["it\u00e9\"${kee}"]`),
		"f.yaml:3:21: keys[0]: unknown name `kee`, did you mean `key`?"},
	{"unknown name in a single-quoted key", with(`keys: ['it''s ${kee}']`),
		"f.yaml:3:17: keys[0]: unknown name `kee`, did you mean `key`?"},
	{"empty expression in a key", with(`keys: ["rl:${}"]`),
		`f.yaml:3:14: keys[0] is empty, want an expression`},
	{"unknown name in args", with("args: [rat, capacity]"),
		"f.yaml:4:8: args[0]: unknown name `rat`, did you mean `rate`?"},
	{"reply in args", with("args: [rate, reply]"),
		"f.yaml:4:14: args[1]: unknown name `reply`: it exists in `reply`, of a limiter on Redis"},
	{"clock function", with("args: [now()]"),
		"f.yaml:4:8: args[0]: unknown name `now`: time is an input here; use now_s, now_ms, now_us or now_ns"},
	{"unknown function", with("args: [celi(rate)]"),
		"f.yaml:4:8: args[0]: unknown name `celi`, did you mean `ceil`?"},
	{"unfinished expression", with("args: [rate, capacity +]"),
		"f.yaml:4:23: args[1]: the expression ends too early; add what belongs behind it"},
	{"mismatched types", with("args: [rate + key]"),
		"f.yaml:4:13: args[0]: invalid operation: + (mismatched types float64 and string); write a number without quotes, and convert text as in `float(reply[1])`"},
	{"list as an argument", with("args: ['[1, 2]']"),
		`f.yaml:4:9: args[0] is a list, want a number, text or a boolean`},
	{"nil as an argument", with("args: ['nil']"),
		`f.yaml:4:9: args[0]: the value is nil, and only numbers, text and booleans can be sent`},
	{"infinity as an argument", with("args: [1e300 * 1e300]"),
		`f.yaml:4:8: args[0]: the value is +Inf, and only finite numbers can be sent`},
	{"all names at once", with("args: [$env]"),
		"f.yaml:4:8: args[0]: unknown name `$env`: use the names themselves"},
	{"mapping as an argument", with("args: [{a: b}]"),
		`f.yaml:4:8: args[0] is a mapping, want an expression`},
	{"text that is not quoted twice", with(`args: ["token"]`),
		"f.yaml:4:9: args[0]: unknown name `token`, known: key, rate, capacity, cost, now_s, now_ms, now_us, now_ns, instance, request, window_s, window_ms; constant text has quotes of its own: \"'token'\""},
	{"empty argument", with(`args: [""]`),
		`f.yaml:4:9: args[0] is empty, want an expression`},
	{"unquoted index in braces", with("reply: {allowed: reply[0] == 1}"),
		"f.yaml:5:23: YAML: ',' or '}' must be specified; an expression that holds `[`, `:`, `?` or `#` must be quoted here"},
	{"no reply", without("reply"),
		"f.yaml:1:1: `reply` is missing; add a line such as `reply: {allowed: reply == 1}`"},
	{"reply without allowed", with(`reply: {remaining: "reply[1]"}`),
		"f.yaml:5:1: `reply` does not say what `allowed` is; add allowed: reply == 1"},
	{"reply that is text", with("reply: reply == 1"),
		"f.yaml:5:8: `reply` is text, want fields: allowed, denied, remaining, retry_after"},
	{"unknown field in reply", with("reply: {alowed: reply == 1}"),
		"f.yaml:5:9: unknown field `alowed` in `reply`, did you mean `allowed`?"},
	{"allowed that is a number", with("reply: {allowed: cost}"),
		`f.yaml:5:18: allowed is a number, want true or false`},
	{"remaining that is text", with("reply: {allowed: reply == 1, remaining: key}"),
		`f.yaml:5:41: remaining is text, want a number`},
	{"status without http", with("reply: {allowed: status == 200}"),
		"f.yaml:5:18: allowed: unknown name `status`: it exists in `reply`, of an `http` limiter"},
	{"bad expression in a block", without("reply") + "reply:\n  allowed: reply[0] = 1\n",
		"f.yaml:6:21: allowed: a single `=`; compare with `==`"},
	{"bad expression in a literal block", without("reply") + "reply:\n  allowed: |\n    reply[0] == 1 and\n    rats > 1\n",
		"f.yaml:8:5: allowed: unknown name `rats`, did you mean `rate`?"},
	{"bad state", with("state: {tokens: list x}"),
		"f.yaml:6:17: state tokens is `list x`, want `hash FIELD` or `string`"},
	{"unknown field of state", with("state: {level: string}"),
		"f.yaml:6:9: unknown field `level` in `state`, known: tokens, time"},
	{"empty state", with("state: {}"),
		"f.yaml:6:8: `state` is empty; name tokens, time or both, or remove it"},
	{"unknown model", with("model: app-clok", `state: {tokens: "hash a", time: "hash b"}`),
		"f.yaml:6:8: unknown model `app-clok`, did you mean `app-clock`?"},
	{"model of the other clock", with("model: redis-time", `state: {tokens: "hash a", time: "hash b"}`),
		"f.yaml:6:1: model redis-time decides by the server's clock, but `time` is caller; change one"},
	{"model without state", with("model: app-clock"),
		"f.yaml:6:1: replaying against app-clock needs to read the state; add `state: {tokens: …, time: …}`"},
	{"model of another contract", with("contract: fixed-window", "model: app-clock", `state: {tokens: "hash a", time: "hash b"}`),
		"f.yaml:7:1: model app-clock is a token bucket, but `contract` is fixed-window; change one"},
	{"rate of zero", with("limit: {rate: 0, capacity: 1}"),
		`f.yaml:6:15: rate is 0, want a number above 0`},
	{"rate below zero", with("limit: {rate: -1, capacity: 1}"),
		`f.yaml:6:15: rate is -1, want a number above 0`},
	{"rate that is no number", with("limit: {rate: .nan, capacity: 1}"),
		`f.yaml:6:15: rate is not finite, want a number above 0`},
	{"rate that is infinite", with("limit: {rate: .inf, capacity: 1}"),
		`f.yaml:6:15: rate is not finite, want a number above 0`},
	{"capacity that no double counts", with("limit: {rate: 1, capacity: 1e300}"),
		"f.yaml:6:28: capacity is 1e+300, want at most 2^53 (9007199254740992): beyond it a double no longer counts single tokens"},
	{"rate too large", with("limit: {rate: 1e999, capacity: 1}"),
		`f.yaml:6:15: rate is not finite, want a number above 0`},
	{"rate that is text", with("limit: {rate: fast, capacity: 1}"),
		`f.yaml:6:15: rate is "fast", want a number above 0`},
	{"rate in quotes", with(`limit: {rate: "1", capacity: 1}`),
		`f.yaml:6:15: rate is "1", want a number above 0`},
	{"limit without a capacity", with("limit: {rate: 1}"),
		"f.yaml:6:1: `limit` has no capacity; write limit: {rate: 100, capacity: 50}"},
	{"limit that is a number", with("limit: 100"),
		"f.yaml:6:8: `limit` is the number 100, want fields: rate, capacity"},
	{"unknown check", with("expect: {over-admision: fail}"),
		"f.yaml:6:10: unknown field `over-admision` in `expect`, did you mean `over-admission`?"},
	{"unknown verdict", with("expect: {over-admission: failed}"),
		"f.yaml:6:26: verdict `failed` of over-admission is unknown, want pass, fail or any"},
	{"expect that is a list", with("expect: [over-admission]"),
		"f.yaml:6:9: `expect` is a list, want fields: over-admission, spurious-denial, accept-rate, state-audit, accounting, replay, linearizability, fairness, reply-contract"},
	{"tab", "name: x\n\tscript: ok.lua\n",
		`f.yaml:2:1: YAML: a tab in the indentation; indent with spaces`},
	{"unfinished text", with(`name: "x`),
		"f.yaml:3:9: YAML: value is not allowed in this context. map key-value is pre-defined; an expression that holds `[`, `:`, `?` or `#` must be quoted here"},
	{"unfinished list", with("keys: [a"),
		"f.yaml:4:1: YAML: ',' or ']' must be specified; an expression that holds `[`, `:`, `?` or `#` must be quoted here"},
	{"args of a command", "name: c\ncommand: [GET, \"${key}\"]\nargs: [rate]\nreply: {allowed: reply == 1}\n",
		"f.yaml:3:1: `args` belongs to a script; put the values into `command`"},
	{"command without a key", "name: c\ncommand: [PING]\nreply: {allowed: reply == 1}\n",
		"f.yaml:2:1: no word of `command` holds `${key}`: all buckets would share one; add \"${key}\""},
	{"empty command", "name: c\ncommand: []\nreply: {allowed: reply == 1}\n",
		"f.yaml:2:10: `command` is an empty list, want a list such as [\"CL.THROTTLE\", \"${key}\", \"15\", \"30\", \"60\"]"},
	{"empty word of a command", "name: c\ncommand: [\"\", \"${key}\"]\nreply: {allowed: reply == 1}\n",
		`f.yaml:2:11: command[0] is empty, want text`},
	{"http without a url", "name: h\nhttp: {method: GET}\nreply: {allowed: status == 200}\n",
		"f.yaml:2:1: `http` has no url; add one, such as url: \"http://localhost:8080/take?key=${key}\""},
	{"http with an unknown method", "name: h\nhttp: {method: GTE, url: \"http://x/${key}\"}\nreply: {allowed: status == 200}\n",
		"f.yaml:2:16: unknown method `GTE`, did you mean `GET`?"},
	{"reply of http", "name: h\nhttp: {url: \"http://x/${key}\"}\nreply: {allowed: reply == 200}\n",
		"f.yaml:3:18: allowed: unknown name `reply`: it exists in `reply`, of a limiter on Redis"},
	{"http that is text", "name: h\nhttp: http://x\nreply: {allowed: status == 200}\n",
		"f.yaml:2:7: `http` is text, want fields: method, url, headers, body"},
	{"exec with a reply", "name: e\nexec: [node, x.js]\nreply: {allowed: reply == 1}\n",
		"f.yaml:3:1: `reply` has no meaning with `exec`, whose answers are JSON lines; remove it"},
	{"exec without a program", "name: e\nexec: [\"\"]\n",
		`f.yaml:2:8: exec[0] is empty, want the program to start`},
	{"command that is text", "name: c\ncommand: CL.THROTTLE ${key}\nreply: {allowed: reply == 1}\n",
		"f.yaml:2:10: `command` is text, want a list such as [\"CL.THROTTLE\", \"${key}\", \"15\", \"30\", \"60\"]"},
	{"unknown name in a command", "name: c\ncommand: [X, \"${key}\", \"${burst}\"]\nreply: {allowed: reply == 1}\n",
		"f.yaml:2:27: command[2]: unknown name `burst`, known: key, rate, capacity, cost, now_s, now_ms, now_us, now_ns, instance, request, window_s, window_ms; constant text has quotes of its own: \"'burst'\""},
	{"list as a word of a command", "name: c\ncommand: [X, \"${key}\", [15, 30]]\nreply: {allowed: reply == 1}\n",
		"f.yaml:2:24: command[2] is a list, want text"},
	{"command without a reply", "name: c\ncommand: [X, \"${key}\"]\n",
		"f.yaml:1:1: `reply` is missing; add a line such as `reply: {allowed: reply == 1}`"},
	{"status in the reply of a command", "name: c\ncommand: [X, \"${key}\"]\nreply: {allowed: status == 200}\n",
		"f.yaml:3:18: allowed: unknown name `status`: it exists in `reply`, of an `http` limiter"},
	{"http with an unknown field", "name: h\nhttp: {uri: \"http://x/${key}\"}\nreply: {allowed: status == 200}\n",
		"f.yaml:2:8: unknown field `uri` in `http`, did you mean `url`?"},
	{"http with a method in small letters", "name: h\nhttp: {method: post, url: \"http://x/${key}\"}\nreply: {allowed: status == 200}\n",
		"f.yaml:2:16: unknown method `post`, did you mean `POST`?"},
	{"url without a scheme", "name: h\nhttp: {url: \"localhost:8080/${key}\"}\nreply: {allowed: status == 200}\n",
		"f.yaml:2:13: url: it does not begin with http:// or https://; write it as http://localhost:8080/take?key=${key}"},
	{"url of another scheme", "name: h\nhttp: {url: \"ftp://x/${key}\"}\nreply: {allowed: status == 200}\n",
		"f.yaml:2:13: url: it does not begin with http:// or https://; write it as http://localhost:8080/take?key=${key}"},
	{"url without a host", "name: h\nhttp: {url: \"http:///take?key=${key}\"}\nreply: {allowed: status == 200}\n",
		"f.yaml:2:13: url: it names no host; write it as http://localhost:8080/take?key=${key}"},
	{"url with a port that is none", "name: h\nhttp: {url: \"http://x:http/${key}\"}\nreply: {allowed: status == 200}\n",
		"f.yaml:2:13: url: invalid port \":http\" after host; write it as http://localhost:8080/take?key=${key}"},
	{"unknown name in a url", "name: h\nhttp: {url: \"http://x/${user}\"}\nreply: {allowed: status == 200}\n",
		"f.yaml:2:25: url: unknown name `user`, known: key, rate, capacity, cost, now_s, now_ms, now_us, now_ns, instance, request, window_s, window_ms; constant text has quotes of its own: \"'user'\""},
	{"url that is a list", "name: h\nhttp: {url: [\"http://x/${key}\"]}\nreply: {allowed: status == 200}\n",
		"f.yaml:2:13: url is a list, want text"},
	{"http without a key", "name: h\nhttp: {url: \"http://x/take\"}\nreply: {allowed: status == 200}\n",
		"f.yaml:2:1: nothing in `http` holds `${key}`: all buckets and all runs would share one; put it into the url, a header or the body"},
	{"headers that are a list", "name: h\nhttp: {url: \"http://x/${key}\", headers: [x-user]}\nreply: {allowed: status == 200}\n",
		"f.yaml:2:41: `headers` is a list, want fields, as in {name: value}"},
	{"header that is no name", "name: h\nhttp: {url: \"http://x/${key}\", headers: {\"x user\": a}}\nreply: {allowed: status == 200}\n",
		"f.yaml:2:42: \"x user\" is no header's name; use letters, digits and dashes"},
	{"header that follows from the body", "name: h\nhttp: {url: \"http://x/${key}\", body: a, headers: {content-length: 1}}\nreply: {allowed: status == 200}\n",
		"f.yaml:2:51: header `content-length` follows from the body; remove it"},
	{"header given twice", "name: h\nhttp: {url: \"http://x/${key}\", headers: {x-user: a, X-User: b}}\nreply: {allowed: status == 200}\n",
		"f.yaml:2:53: header `X-User` is given twice; remove one"},
	{"header of two lines", "name: h\nhttp:\n  url: \"http://x/${key}\"\n  headers:\n    x-user: \"a\\nb\"\nreply: {allowed: status == 200}\n",
		"f.yaml:5:13: header `x-user` has more than one line; write its value in one"},
	{"empty body", "name: h\nhttp: {url: \"http://x/${key}\", body: \"\"}\nreply: {allowed: status == 200}\n",
		"f.yaml:2:38: body is empty, want text"},
	{"http without a reply", "name: h\nhttp: {url: \"http://x/${key}\"}\n",
		"f.yaml:1:1: `reply` is missing; add a line such as `reply: {allowed: status == 200, denied: status == 429}`"},
	{"a scenario", "name: s\nlimit: {rate: 1, capacity: 1}\ninstances: [{name: app}]\nphases: [{burst: 1}]\n",
		"f.yaml:4:1: this looks like a scenario, for it says `phases`, and not like a limiter file; write `harness run f.yaml`"},
	{"status as a text", "name: h\nhttp: {url: \"http://x/${key}\"}\nreply: {allowed: status == '200'}\n",
		"f.yaml:3:25: allowed: invalid operation: == (mismatched types int and string); write a number without quotes, and convert text as in `float(reply[1])`"},
	{"denied that is a number", "name: h\nhttp: {url: \"http://x/${key}\"}\nreply: {allowed: status == 200, denied: 429}\n",
		"f.yaml:3:41: denied is a number, want true or false"},
	{"args of http", "name: h\nhttp: {url: \"http://x/${key}\"}\nargs: [rate]\nreply: {allowed: status == 200}\n",
		"f.yaml:3:1: `args` belongs to a script; put the values into `http`"},
	{"state of http without keys", "name: h\nhttp: {url: \"http://x/${key}\"}\nreply: {allowed: status == 200}\nstate: {tokens: string}\n",
		"f.yaml:4:1: `state` without `keys`: nothing says under which keys in Redis; add a line such as `keys: [\"rl:${key}\"]`"},
	{"http and exec", "name: h\nhttp: {url: \"http://x/${key}\"}\nexec: [node, x.js]\nreply: {allowed: status == 200}\n",
		"f.yaml:3:1: `exec` beside `http`: a limiter is asked in one way; keep one of them"},
	{"exec that is text", "name: e\nexec: node limiter.js\n",
		"f.yaml:2:7: `exec` is text, want a list such as [node, limiter.js]"},
	{"exec that is a shell's line", "name: e\nexec: [\"node limiter.js\"]\n",
		"f.yaml:2:8: exec[0] is \"node limiter.js\", the name of one program: no shell reads it; give each argument an entry of its own, as in [node, limiter.js]"},
	{"empty exec", "name: e\nexec: []\n",
		"f.yaml:2:7: `exec` is an empty list, want a list such as [node, limiter.js]"},
	{"exec with a mapping", "name: e\nexec: [node, {file: x.js}]\n",
		"f.yaml:2:14: exec[1] is a mapping, want text"},
	{"args of exec", "name: e\nexec: [node, x.js]\nargs: [rate]\n",
		"f.yaml:3:1: `args` belongs to a script; a program finds RATE and CAPACITY in its environment and the rest in each line"},
	{"state of exec without keys", "name: e\nexec: [node, x.js]\nstate: {tokens: string}\n",
		"f.yaml:3:1: `state` without `keys`: nothing says under which keys in Redis; add a line such as `keys: [\"rl:${key}\"]`"},
	{"model of exec without state", "name: e\nexec: [node, x.js]\nmodel: app-clock\n",
		"f.yaml:3:1: replaying against app-clock needs to read the state; add `state: {tokens: …, time: …}`"},
	{"model of exec on the other clock", "name: e\nexec: [node, x.js]\nkeys: [\"${key}\"]\nmodel: redis-time\nstate: {tokens: \"hash a\", time: \"hash b\"}\n",
		"f.yaml:4:1: model redis-time decides by the server's clock, but `time` is caller; change one"},
	{"keys of exec without a key", "name: e\nexec: [node, x.js]\nkeys: [\"rl\"]\n",
		"f.yaml:3:8: keys[0] does not hold `${key}`: all buckets and all runs would share it; write \"rl:${key}\""},
	{"after a byte order mark", "\ufeff" + with("tme: caller"),
		"f.yaml:6:1: unknown field `tme` in the limiter file, did you mean `time`?"},
	{"with carriage returns", strings.ReplaceAll(with("tme: caller"), "\n", "\r\n"),
		"f.yaml:6:1: unknown field `tme` in the limiter file, did you mean `time`?"},
}

func TestWrongFilesAreErrorsOfOneLine(t *testing.T) {
	for _, w := range wrong {
		t.Run(w.name, func(t *testing.T) {
			f, err := limiterfile.Parse("f.yaml", []byte(w.file), folder)
			if err == nil {
				t.Fatalf("accepted as %+v, want %q", f, w.want)
			}
			if got := err.Error(); got != w.want {
				t.Errorf("\n got %s\nwant %s", got, w.want)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %q", err)
			}
			var e *limiterfile.Error
			if !errors.As(err, &e) || e.Line < 1 || e.Column < 1 {
				t.Errorf("%T without a place", err)
			}
		})
	}
}

// hints are the words with which a message says what to do, one of them at least.
var hints = regexp.MustCompile(`want |did you mean|known: |; (add|write|remove|give|keep|put|change|use|quote|compare|indent)|: (use|time is|it exists)|are needed|belongs? |must be quoted|one file holds|counts from|first given|can be sent|needs to read|such as|or remove it`)

// TestWrongFilesOfEveryKind counts them, and looks for what each says to do.
func TestWrongFilesOfEveryKind(t *testing.T) {
	kinds := map[string]int{"http": 0, "exec": 0, "command": 0, "script": 0}
	for _, w := range wrong {
		for kind := range kinds {
			if strings.Contains(w.file, "\n"+kind+": ") {
				kinds[kind]++
			}
		}
		_, message, _ := strings.Cut(w.want, ": ")
		if !hints.MatchString(message) {
			t.Errorf("%s: the message says nothing of what to do: %s", w.name, w.want)
		}
	}
	if len(wrong) < 100 {
		t.Errorf("%d wrong files, want a hundred and more", len(wrong))
	}
	for kind, least := range map[string]int{"http": 20, "exec": 10, "command": 8, "script": 50} {
		if kinds[kind] < least {
			t.Errorf("%d wrong files of kind %s, want %d and more", kinds[kind], kind, least)
		}
	}
	t.Logf("%d wrong files: %v", len(wrong), kinds)
}

func TestLoadNamesTheFileThatIsNotThere(t *testing.T) {
	_, err := limiterfile.Load("nowhere/limiter.yaml")
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "nowhere/limiter.yaml") {
		t.Errorf("got %v", err)
	}
}
