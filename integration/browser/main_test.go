package browser_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"adlens/integration/harness"

	"github.com/chromedp/chromedp"
)

// house is the demonstration account with a server and a browser, which all
// tests share. Each test has a tab that knows nothing of the others.
type house struct {
	*harness.Program
	server  *harness.Server
	key     string
	browser context.Context
	close   []func() error
}

var shared struct {
	sync.Once
	house
	err error
}

func TestMain(m *testing.M) {
	code := m.Run()
	for i := len(shared.close) - 1; i >= 0; i-- {
		if err := shared.close[i](); err != nil {
			fmt.Fprintln(os.Stderr, "after the tests:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// sharedHouse gives the house, and leaves a test out where there is no browser.
func sharedHouse(t *testing.T) *house {
	t.Helper()
	// Without windows and profiles to look after, a page takes half of the processor.
	path, err := exec.LookPath("chromium-headless-shell")
	if err != nil {
		path, err = exec.LookPath("chromium")
	}
	if err != nil {
		t.Skip("chromium is not installed: apt-get install chromium-headless-shell, or chromium")
	}
	shared.Do(func() { shared.err = shared.open(path) })
	need(t, shared.err)
	return &shared.house
}

func (h *house) open(chromium string) error {
	dir, err := os.MkdirTemp("", "adlens-browser-")
	if err != nil {
		return err
	}
	h.close = append(h.close, func() error { return errors.Join(os.RemoveAll(dir), harness.Cleanup()) })
	if h.Program, err = harness.New(dir + "/data"); err != nil {
		return err
	}
	if h.server, err = h.Demo(); err != nil {
		return err
	}
	h.close = append(h.close, h.server.Stop)
	if h.key, err = h.Key(harness.DemoAccount); err != nil {
		return err
	}
	return h.launch(chromium, dir+"/profile")
}

// launch starts the browser, with nothing in it that speaks to the world.
func (h *house) launch(chromium, profile string) error {
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromium), chromedp.UserDataDir(profile), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true), chromedp.Flag("lang", "en-US"))
	allocator, release := chromedp.NewExecAllocator(context.Background(), options...)
	browser, leave := chromedp.NewContext(allocator)
	h.browser = browser
	h.close = append(h.close, func() error {
		err := chromedp.Cancel(browser)
		leave()
		release()
		return err
	})
	return chromedp.Do(browser)
}

// client asks the API as the page does.
func (h *house) client(key string) harness.Client {
	return harness.Client{Address: h.server.Address, Key: key}
}

// need ends the test on an error.
func need(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
