package docs

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// luminance of a colour written #rrggbb, by WCAG 2.
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	total := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		part, err := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8)
		if err != nil {
			t.Fatal(colour, err)
		}
		c := float64(part) / 255
		if c <= 0.04045 {
			total += weight * c / 12.92
		} else {
			total += weight * math.Pow((c+0.055)/1.055, 2.4)
		}
	}
	return total
}

func TestTextStandsOutInBothSchemes(t *testing.T) {
	text, err := files.ReadFile("style.css")
	if err != nil {
		t.Fatal(err)
	}
	schemes := regexp.MustCompile(`:root \{([^}]*)\}`).FindAllStringSubmatch(string(text), -1)
	if len(schemes) != 2 {
		t.Fatalf("%d schemes", len(schemes))
	}
	for i, scheme := range schemes {
		colours := map[string]float64{}
		for _, c := range regexp.MustCompile(`--(\w+): (#[0-9a-f]{6});`).FindAllStringSubmatch(scheme[1], -1) {
			colours[c[1]] = luminance(t, c[2])
		}
		for _, ground := range []string{"ground", "raised"} {
			for _, ink := range []string{"text", "quiet", "link", "mark", "fault"} {
				a, b := colours[ground], colours[ink]
				if contrast := (max(a, b) + 0.05) / (min(a, b) + 0.05); contrast < 4.5 {
					t.Errorf("scheme %d: %s on %s has a contrast of %.2f", i, ink, ground, contrast)
				}
			}
		}
	}
	if colours := regexp.MustCompile(`#[0-9a-fA-F]{3,8}\b`).FindAllString(strings.Join(regexp.MustCompile(`:root \{[^}]*\}`).Split(string(text), -1), ""), -1); len(colours) > 0 {
		t.Errorf("colours outside of the schemes: %q", colours)
	}
}
