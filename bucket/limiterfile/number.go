package limiterfile

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
)

// exact is where doubles begin to skip whole numbers.
const exact = 1 << 53

// appendFloat appends the shortest plain decimal that reads back as v: no
// exponent, which not every reader of numbers takes, and no sign on a zero.
func appendFloat(b []byte, v float64) ([]byte, error) {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return b, fmt.Errorf("the value is %v, and only finite numbers can be sent", v)
	case v == 0:
		return append(b, '0'), nil
	case math.Abs(v) < exact && v == math.Trunc(v):
		return strconv.AppendInt(b, int64(v), 10), nil // the same digits, ten times as fast
	}
	return strconv.AppendFloat(b, v, 'f', -1, 64), nil
}

// appendValue appends the result of an expression as it is sent.
func appendValue(b []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case string:
		return append(b, v...), nil
	case float64:
		return appendFloat(b, v)
	case int:
		return strconv.AppendInt(b, int64(v), 10), nil
	case int64:
		return strconv.AppendInt(b, v, 10), nil
	case bool:
		if v {
			return append(b, '1'), nil
		}
		return append(b, '0'), nil
	}
	if f, ok := toFloat(v); ok {
		return appendFloat(b, f)
	}
	return b, fmt.Errorf("the value is %s, and only numbers, text and booleans can be sent", nameOf(v))
}

// toFloat is v as a double if it is a number of any kind.
func toFloat(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case int64:
		return float64(v), true
	case int:
		return float64(v), true
	}
	r := reflect.ValueOf(v)
	switch {
	case !r.IsValid():
		return 0, false
	case r.CanInt():
		return float64(r.Int()), true
	case r.CanUint():
		return float64(r.Uint()), true
	case r.CanFloat():
		return r.Float(), true
	}
	return 0, false
}

// nameOf names a value as a user would.
func nameOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case string:
		return fmt.Sprintf("the text %.40q", v)
	case bool:
		return fmt.Sprintf("the boolean %v", v)
	case error:
		return fmt.Sprintf("the error %q", v.Error())
	}
	if f, ok := toFloat(v); ok {
		return fmt.Sprintf("the number %v", f)
	}
	return kindName(reflect.TypeOf(v))
}

// kindName names a type as a user would.
func kindName(t reflect.Type) string {
	if t == nil {
		return "nil"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "a boolean"
	case reflect.String:
		return "text"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "a mapping"
	case reflect.Func:
		return "a function"
	}
	if t.Kind() >= reflect.Int && t.Kind() <= reflect.Float64 {
		return "a number"
	}
	return "of type " + t.String()
}
