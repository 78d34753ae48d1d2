package browser_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestThePictureOfThePage takes the picture that the README shows, where a
// directory for it is named.
func TestThePictureOfThePage(t *testing.T) {
	dir := os.Getenv("ADLENS_TEST_PICTURES")
	if dir == "" {
		t.Skip("ADLENS_TEST_PICTURES names no directory; `make picture` does")
	}
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "").signIn(h.key)
	picture, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	need(t, err)
	need(t, os.WriteFile(filepath.Join(dir, "page.png"), picture, 0o644))
}
