package backend

import (
	"context"
	"errors"
)

// openContainer starts a server in a container.
func openContainer(ctx context.Context, o Options) (*Redis, error) {
	return nil, errors.New("containers are not supported in this build")
}

// openLocalContainer is openContainer where nothing may be downloaded.
func openLocalContainer(ctx context.Context, o Options) (*Redis, error) {
	return openContainer(ctx, o)
}
