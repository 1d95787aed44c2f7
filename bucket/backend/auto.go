package backend

import (
	"context"
	"fmt"
)

// openAuto takes the first that is there: a server program on PATH, a container
// whose image needs no download, the embedded server. It logs one line for what
// it took and one for each that it passed over.
func openAuto(ctx context.Context, o Options) (*Redis, error) {
	choices := []struct {
		kind Kind
		open func(context.Context, Options) (*Redis, error)
	}{
		{Process, openProcess},
		{Container, openLocalContainer},
		{Embedded, openEmbedded},
	}
	var last error
	for _, c := range choices {
		r, err := c.open(ctx, o)
		if err == nil {
			return r, nil
		}
		if ctx.Err() != nil {
			return nil, err
		}
		o.logf("redis: passed over %s: %v", c.kind, err)
		last = err
	}
	return nil, fmt.Errorf("choose a redis: nothing could be started: %w", last)
}
