package loader_test

import (
	"path/filepath"
	"strings"
	"testing"

	"adlens/loader"
)

// Of two contents of one export, which does not change, one is damaged, and the time
// does not say which.
func TestAnExportWithAnotherContentIsRefused(t *testing.T) {
	t.Parallel()
	d := openShared(t)
	mustLoad(t, d.store(), t.Name(), writeBase(t))
	put := func(id, name string) loader.FileResult {
		path := filepath.Join(t.TempDir(), "x.export.json")
		writeFile(t, path, `{"exportId":"`+id+`","profileId":"1001","entity":"campaigns","status":"COMPLETED","generatedAt":"2026-01-05T12:00:00Z"}`)
		writeFile(t, filepath.Join(filepath.Dir(path), "x.json"), `[{"campaignId":"1","adProduct":"SPONSORED_PRODUCTS","name":"`+name+`","state":"ENABLED"}]`)
		return load(t, d.store(), t.Name(), path).Files[0]
	}
	for _, step := range []struct {
		id, name string
		status   loader.Status
		held     string
	}{{"b", "one", loader.Loaded, "one"}, {"b", "two", loader.Refused, "one"}, {"b", "one", loader.Unchanged, "one"}, {"a", "two", loader.Unchanged, "one"}, {"c", "two", loader.Loaded, "two"}, {"b", "other", loader.Unchanged, "two"}} {
		got := put(step.id, step.name)
		if held := d.lists(t, t.Name()); got.Status != step.status || !strings.HasSuffix(held, step.held+"\n") {
			t.Errorf("export %s with %s is %s, and held is %s; expected %s and %s", step.id, step.name, got.Status, held, step.status, step.held)
		}
		if got.Status == loader.Refused && !strings.Contains(*got.Error, "export b was loaded before with another content") {
			t.Error(*got.Error)
		}
	}
}
