package requests_test

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"adlens/integration/harness"
	"adlens/integration/house"
)

// samplesOnPage finds the languages and programs of a page of the reference.
var samplesOnPage = regexp.MustCompile(`(?s)<h3>([^<]*)</h3>\s*<pre[^>]*><code>(.*?)</code>`)

// runners run a program in a language as a person does who pasted it.
var runners = map[string]func(ctx context.Context, t *testing.T, code string) *exec.Cmd{
	"curl": func(ctx context.Context, _ *testing.T, code string) *exec.Cmd {
		return exec.CommandContext(ctx, "sh", "-c", code)
	},
	"Python": func(ctx context.Context, _ *testing.T, code string) *exec.Cmd {
		return exec.CommandContext(ctx, "python3", "-c", code)
	},
	"JavaScript": func(ctx context.Context, _ *testing.T, code string) *exec.Cmd {
		return exec.CommandContext(ctx, "node", "--input-type=module", "-e", code)
	},
	"Go": func(ctx context.Context, t *testing.T, code string) *exec.Cmd {
		return exec.CommandContext(ctx, "go", "run", house.Put(t, t.TempDir(), "main.go", []byte(code)))
	},
}

// The samples of every endpoint, as the server shows them, print what it answers.
func TestTheSamplesOfTheReferencePrintTheAnswer(t *testing.T) {
	t.Parallel()
	h := house.Shared(t)
	if r := h.Run("account", "add", "samples", "--name", "Acme Ltd"); r.Code != 0 {
		t.Fatal(r)
	}
	r := h.Run("key", "create", "--account", "samples", "--name", "sample")
	c := harness.Client{Address: h.Server.Address, Key: strings.TrimSpace(r.Stdout)}
	loaded, err := h.Load("samples", filepath.Join("integration", "requests", "testdata", "example"))
	house.Need(t, err)
	if loaded.Code != 0 {
		t.Fatal(loaded.Result)
	}
	var document struct {
		Paths map[string]struct {
			Get struct{ OperationID string }
		}
	}
	house.Need(t, json.Unmarshal(house.Get(t, c, "/openapi.json").Body, &document))
	shown := 0
	for path, item := range document.Paths {
		page := string(house.Get(t, c, "/docs/reference/"+item.Get.OperationID).Body)
		samples := samplesOnPage.FindAllStringSubmatch(page, -1)
		if !strings.HasPrefix(path, "/api/v1/") {
			if len(samples) > 0 {
				t.Errorf("%s needs no key, and has %d samples", path, len(samples))
			}
			continue
		}
		if len(samples) != len(runners) {
			t.Errorf("%s has %d samples", path, len(samples))
		}
		shown++
		for _, sample := range samples {
			mustPrintTheAnswer(t, c, sample[1], html.UnescapeString(sample[2]))
		}
	}
	if shown < 11 {
		t.Errorf("%d endpoints have samples", shown)
	}
}

func mustPrintTheAnswer(t *testing.T, c harness.Client, language, code string) {
	t.Helper()
	address := regexp.MustCompile(regexp.QuoteMeta(c.Address) + `(/api/v1/[^"]*)`).FindStringSubmatch(code)
	if address == nil || runners[language] == nil {
		t.Errorf("a sample in %s does not send a request to this server:\n%s", language, code)
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), harness.Patience)
	defer cancel()
	command := runners[language](ctx, t, code)
	command.Env = append(os.Environ(), "ADLENS_KEY="+c.Key)
	var errors strings.Builder
	command.Stderr = &errors
	printed, err := command.Output()
	if err != nil {
		t.Errorf("the sample in %s of %s: %v\n%s\n%s", language, address[1], err, errors.String(), code)
		return
	}
	got, want := decodedSample(t, printed), decodedSample(t, house.Get(t, c, address[1]).Body)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the sample in %s of %s prints\n%s\nwant\n%v", language, address[1], printed, want)
	}
	// Without a key each fails, and says why.
	command = runners[language](ctx, t, code)
	command.Env = append(os.Environ(), "ADLENS_KEY=")
	if out, err := command.CombinedOutput(); err == nil || !strings.Contains(string(out), "401") && !strings.Contains(string(out), "missing_key") {
		t.Errorf("the sample in %s without a key: %v, %s", language, err, out)
	}
}

// decodedSample reads an answer, but for when its key was used last.
func decodedSample(t *testing.T, body []byte) any {
	t.Helper()
	var answer map[string]any
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Fatal(fmt.Errorf("%w: %s", err, body))
	}
	if key, ok := answer["api_key"].(map[string]any); ok {
		delete(key, "last_used_at")
	}
	return answer
}
