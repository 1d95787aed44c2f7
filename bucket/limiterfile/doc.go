// Package limiterfile reads limiter files: the YAML in which a user says what
// a limiter under test is, how it is asked and how its answer is read. It
// stands between package bucket, whose vocabulary it uses, and the packages
// that talk to a server (lua, remote), which take a [File] and never see YAML.
//
// Reading is strict. An unknown field, an expression that does not compile or
// a script that is not there is an [Error]: one line with the file, the line,
// the column, what is wrong and what to do. A File that was returned without
// one is valid, so nothing needs to be checked again before a run.
//
// # Expressions
//
// args and reply are expressions of github.com/expr-lang/expr, and `${…}` in a
// string takes any of them; `$${` is a literal `${`. These names exist:
//
//	key                           the bucket, new in every run
//	rate, capacity                the limit: tokens per second, tokens
//	cost                          tokens wanted
//	now_s, now_ms, now_us, now_ns the caller's clock, whole numbers, floored
//	instance, request             who asks; a string unique in the run
//	window_s, window_ms           capacity / rate
//	reply                         in reply only: the answer, nil when nil
//	status, headers, body         in reply of an http limiter only
//
// What an http limiter answers with an error's status is no denial: where denied is
// not given, only the statuses 200 to 299 and 429 can be one.
//
// A comparison with == or in that can never hold, as that of a list with a number,
// is an error of the answer and no denial. nil may be compared with anything, and a
// text with a number that it does not spell.
//
// Numbers are sent as the shortest plain decimal that reads back as the same
// double, true and false as 1 and 0. nil, NaN and the infinities cannot be
// sent: they are errors. The functions of expr that read a clock do not exist
// here, for time is an input.
package limiterfile
