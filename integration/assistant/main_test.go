package assistant_test

import (
	"errors"
	"os"
	"sync"
	"testing"

	"adlens/integration/harness"
	"adlens/integration/house"
)

// demo is the demonstration account with a server, which tests that only read share.
var demo struct {
	sync.Once
	*harness.Program
	server *harness.Server
	dir    string
	err    error
}

func TestMain(m *testing.M) { house.Main(m, closeDemo) }

func closeDemo() error {
	var stopped error
	if demo.server != nil {
		stopped = demo.server.Stop()
	}
	if demo.dir == "" {
		return stopped
	}
	return errors.Join(stopped, os.RemoveAll(demo.dir))
}

// openDemo returns the demonstration account, and a client of the API that reads it.
func openDemo(t *testing.T) (*harness.Program, harness.Client) {
	t.Helper()
	demo.Do(func() {
		if demo.dir, demo.err = os.MkdirTemp("", "adlens-assistant-"); demo.err != nil {
			return
		}
		if demo.Program, demo.err = harness.New(demo.dir); demo.err == nil {
			demo.server, demo.err = demo.Demo()
		}
	})
	house.Have(t, demo.err)
	key, err := demo.Key(harness.DemoAccount)
	house.Need(t, err)
	return demo.Program, harness.Client{Address: demo.server.Address, Key: key}
}
