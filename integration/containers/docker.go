package containers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"
)

// ErrNone says that this machine has no Docker, or cannot have the image. Tests
// that need it are skipped then, but not where Required.
var ErrNone = errors.New("no container can be had here")

// Required reports whether ADLENS_TEST_DOCKER promises that there is a Docker.
func Required() bool { return os.Getenv("ADLENS_TEST_DOCKER") == "required" }

// docker is the one connection to the Docker of this machine.
var docker = sync.OnceValues(func() (*testcontainers.DockerProvider, error) {
	log.SetDefault(silent{})
	provider, err := testcontainers.NewDockerProvider()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNone, err)
	}
	if err := provider.Health(context.Background()); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNone, err)
	}
	return provider, nil
})

// silent keeps what testcontainers tells out of the tests' output; errors are
// returned.
type silent struct{}

func (silent) Printf(string, ...any) {}

// have makes sure that an image is here, and fetches it where it is not.
func have(ctx context.Context, image string) error {
	provider, err := docker()
	if err != nil {
		return err
	}
	_, err = provider.Client().ImageInspect(ctx, image)
	if !errdefs.IsNotFound(err) {
		return err
	}
	if err := provider.PullImage(ctx, image); err != nil {
		return fmt.Errorf("%w: image %s: %w", ErrNone, image, err)
	}
	return nil
}

func api() (client.APIClient, error) {
	provider, err := docker()
	if err != nil {
		return nil, err
	}
	return provider.Client(), nil
}
