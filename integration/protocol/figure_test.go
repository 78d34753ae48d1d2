package protocol_test

import (
	"encoding/json"
	"strings"
	"testing"

	"adlens/integration/house"
)

// The call that every client makes, and the API's request for the same.
const (
	figureTool    = "figures"
	figurePeriod  = "last_30_days"
	figureRequest = "/api/v1/summary?range=" + figurePeriod
)

var figureArguments = map[string]any{"range": figurePeriod}

// toolResult is what clients get, as they print it.
type toolResult struct {
	Protocol string // of the connection
	Tools    []string
	IsError  bool
	Content  []struct {
		Type, Text string
	}
	StructuredContent map[string]any
}

// checkFigures requires that the text and the structured content of a result
// have the figures that the API answers.
func checkFigures(t *testing.T, got toolResult) {
	t.Helper()
	_, api := house.Demo(t)
	a := house.Get(t, api, figureRequest)
	var want struct{ Spend, Sales json.Number }
	house.Need(t, json.Unmarshal(a.Body, &want))
	if got.IsError || len(got.Content) == 0 {
		t.Fatalf("the tool failed: %+v", got)
	}
	structured, err := json.Marshal(got.StructuredContent)
	house.Need(t, err)
	for _, figure := range []json.Number{want.Spend, want.Sales} {
		if figure == "" || !strings.Contains(got.Content[0].Text, figure.String()) {
			t.Errorf("want %q in the text:\n%s", figure, got.Content[0].Text)
		}
		// Clients' JSON may drop zeros at the end.
		if short := strings.TrimSuffix(strings.TrimRight(figure.String(), "0"), "."); !strings.Contains(string(structured), short) {
			t.Errorf("want %s in the structured content:\n%s", short, structured)
		}
	}
}
