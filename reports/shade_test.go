package reports

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"net/url"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestShadeWhereATableGoesOn: on a phone the matrix's right edge is shaded as long
// as there is more of it, and on a wide screen, where all of it is seen, never.
func TestShadeWhereATableGoesOn(t *testing.T) {
	ctx := browser(t)
	dir, f := t.TempDir(), large(40)
	if err := write(dir, f.report, f.load, false); err != nil {
		t.Fatal(err)
	}
	page := (&url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(dir, "report.html"))}).String()
	for _, tt := range []struct {
		width    int64
		scroll   int // pixels
		overflow bool
		shaded   bool
	}{{390, 0, true, true}, {390, 1 << 20, true, false}, {1280, 0, false, false}} {
		if err := chromedp.Do(ctx, chromedp.EmulateViewport(tt.width, 900), chromedp.Navigate(page)); err != nil {
			t.Fatal(err)
		}
		overflow, err := chromedp.Run(ctx, chromedp.Evaluate[bool](fmt.Sprintf(
			`(s => { s.scrollLeft = %d; return s.scrollWidth > s.clientWidth })(document.querySelector("#matrix .scroll"))`, tt.scroll)))
		if err != nil || overflow != tt.overflow {
			t.Fatalf("%d px: the matrix goes on: %v, %v, want %v", tt.width, overflow, err, tt.overflow)
		}
		shot, err := chromedp.Run(ctx, chromedp.Screenshot("#matrix .scroll"))
		if err != nil {
			t.Fatal(err)
		}
		picture, err := png.Decode(bytes.NewReader(shot))
		if err != nil {
			t.Fatal(err)
		}
		if white := whiteness(picture, picture.Bounds().Max.X-3); (white < 0.5) != tt.shaded {
			t.Errorf("%d px, scrolled by %d: %.0f %% of the right edge is white, want a shade: %v", tt.width, tt.scroll, 100*white, tt.shaded)
		}
	}
}

// whiteness is how much of a column of a picture is white, 0 to 1.
func whiteness(p image.Image, x int) float64 {
	white, b := 0, p.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		if _, green, _, _ := p.At(x, y).RGBA(); green > 0xf800 {
			white++
		}
	}
	return float64(white) / float64(b.Dy())
}
