package recipes_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"adlens/integration/house"
)

// aRequest is an endpoint with its parameters, wherever it is in a text.
var aRequest = regexp.MustCompile("/(?:summary|timeline|report|reports/products|marketplaces|rules|activity)\\?[a-z_]+=[^\\s'\"`)]*")

// Every request in a recipe is one that the server answers, also where no test
// runs what is around it.
func TestRecipesAskForWhatExists(t *testing.T) {
	t.Parallel()
	_, one := house.ShopWithData(t)
	files, err := os.ReadDir(documented)
	house.Need(t, err)
	found := 0
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(documented, f.Name()))
		house.Need(t, err)
		for _, request := range aRequest.FindAllString(string(text), -1) {
			found++
			if a := house.Get(t, one.Ask, "/api/v1"+request); a.Status != 200 {
				t.Errorf("%s asks for %s: %s", f.Name(), request, a)
			}
		}
	}
	if len(files) < 7 || found < 12 {
		t.Errorf("only %d requests were found in %d recipes", found, len(files))
	}
}
