package standin_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"adlens/integration/standin"
)

func filed(t *testing.T, plan standin.JobPlan) (*customer, map[string]any) {
	t.Helper()
	c := reporting(t, standin.Config{Facts: []standin.Fact{fact("2026-11-01", "B01", 3)}, Report: plan})
	return c, c.report(order())
}

const fileText = `[{"advertisedAsin":"B01","clicks":3,"date":"2026-11-01"}]`

func TestDownloadIsGzipOfTheStatedSize(t *testing.T) {
	c, report := filed(t, standin.JobPlan{})
	if !strings.HasPrefix(report["url"].(string), c.p.StorageURL()+"/report/") {
		t.Errorf("got %v", report["url"])
	}
	got := fetch(t, report["url"].(string))
	if size, _ := report["fileSize"].(json.Number).Int64(); int(size) != len(got.text) || got.text[:2] != "\x1f\x8b" {
		t.Errorf("size %v, got %d bytes %q", report["fileSize"], len(got.text), got.text[:2])
	}
	if text := unpack(t, got.text); text != fileText {
		t.Errorf("got %s", text)
	}
}

func TestDownloadRefusesAuthorization(t *testing.T) {
	c, report := filed(t, standin.JobPlan{})
	expect(t, fetch(t, report["url"].(string), "Authorization", "Bearer "+c.access), http.StatusBadRequest, "Only one auth mechanism allowed")
}

func TestDownloadNeedsItsSignature(t *testing.T) {
	_, report := filed(t, standin.JobPlan{})
	expect(t, fetch(t, strings.Split(report["url"].(string), "?")[0]), http.StatusForbidden, "SignatureDoesNotMatch")
}

func TestAddressOfFileExpires(t *testing.T) {
	_, report := filed(t, standin.JobPlan{URLLife: -time.Second})
	expect(t, fetch(t, report["url"].(string)), http.StatusForbidden, "Request has expired")
}

func TestAddressStaysTheSameUnlessRenewed(t *testing.T) {
	c, report := filed(t, standin.JobPlan{})
	if again := c.poll(report["reportId"].(string)); again["url"] != report["url"] {
		t.Error("the address changed")
	}
	c = reporting(t, standin.Config{Rules: standin.ReportRules{RenewURL: true}})
	report = c.report(order())
	if again := c.poll(report["reportId"].(string)); again["url"] == report["url"] {
		t.Error("the address did not change")
	}
}

func TestFileArrivesInEveryForm(t *testing.T) {
	for form, check := range map[standin.FileForm]func(text string) bool{
		standin.Plain:   func(text string) bool { return text == fileText },
		standin.Encoded: func(text string) bool { return text == fileText }, // unpacked by Go's client
		standin.CutGzip: func(text string) bool { return strings.HasPrefix(text, "\x1f\x8b") && len(text) < 60 },
		standin.Garbage: func(text string) bool { return !strings.HasPrefix(text, "\x1f\x8b") && !strings.HasPrefix(text, "[") },
	} {
		_, report := filed(t, standin.JobPlan{File: form})
		got := fetch(t, report["url"].(string))
		if got.status != http.StatusOK || !check(got.text) {
			t.Errorf("form %d: got %d %q", form, got.status, got.text)
		}
	}
}

func TestFileCanBeRewritten(t *testing.T) {
	_, report := filed(t, standin.JobPlan{Rewrite: func([]byte) []byte { return []byte(`{"not":"rows"}`) }})
	if got := unpack(t, fetch(t, report["url"].(string)).text); got != `{"not":"rows"}` {
		t.Errorf("got %s", got)
	}
}

func TestStatedTimeOfGenerationCanBeSet(t *testing.T) {
	_, report := filed(t, standin.JobPlan{GeneratedAt: noon.Add(-time.Hour)})
	if report["generatedAt"] != "2026-11-20T11:00:00.000Z" {
		t.Errorf("got %v", report["generatedAt"])
	}
}
