package backend

import (
	"context"
	"fmt"
	"time"
)

// offsetProbes is how many round trips Offset makes; the shortest counts.
const offsetProbes = 15

// Time is the server's clock (TIME), in microseconds.
func (r *Redis) Time(ctx context.Context) (time.Time, error) {
	t, err := r.admin.Time(ctx).Result()
	if err != nil {
		return time.Time{}, fmt.Errorf("ask redis at %s for TIME: %w", r.info.Address, err)
	}
	return t, nil
}

// Offset measures how far the server's clock is ahead of a local one. The
// server read its clock somewhere between sending and receiving, so half of the
// shortest of several round trips, plus the microsecond TIME cuts off, is how
// far the offset may be wrong:
//
//	|true − offset| ≤ uncertainty
func (r *Redis) Offset(ctx context.Context, local func() time.Time) (offset, uncertainty time.Duration, err error) {
	for i := range offsetProbes {
		before := local()
		server, err := r.Time(ctx)
		if err != nil {
			return 0, 0, err
		}
		trip := local().Sub(before)
		if u := trip/2 + time.Microsecond; i == 0 || u < uncertainty {
			offset, uncertainty = server.Sub(before.Add(trip/2)), u
		}
	}
	return offset, uncertainty, nil
}
