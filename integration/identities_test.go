package integration_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"adlens/integration/harness"
	"adlens/integration/model"
)

// identity is a way to name a thing of an account: PATH with an id for ID.
type identity struct {
	path string
	// Ids of the asking account, of both accounts, of the other one alone, and
	// of nobody. All have one length.
	own, both, other, absent string
	status                   int // for the other one's and for nobody's
}

var identities = []identity{
	{"/campaigns?marketplace_id=ID", "701", "700", "702", "709", 400},
	{"/campaigns?marketplace_id=ID&states=PAUSED&page_size=1", "701", "700", "702", "709", 400},
	{"/ad-groups?marketplace_id=ID", "701", "700", "702", "709", 400},
	{"/ad-groups?marketplace_id=700&campaign_id=ID", "9701", "9700", "9702", "9709", 400},
	{"/rules/ID/runs", "rule-701", "rule-700", "rule-702", "rule-709", 404},
	{"/summary?marketplaces=ID", "FR", "DE", "IT", "ES", 400},
	{"/timeline?marketplaces=ID", "FR", "DE", "IT", "ES", 400},
	{"/reports/products?marketplaces=ID", "FR", "DE", "IT", "ES", 400},
}

// neighbours are two accounts with one profile, campaign, ad group and rule of
// the same ids and one of their own. What is called the same has another name,
// and other figures, in each.
func neighbours(t *testing.T) (asking, other harness.Client) {
	t.Helper()
	h := sharedHouse(t)
	clients := map[string]harness.Client{}
	for own, country := range map[string]string{"701": "FR", "702": "IT"} {
		one := &tenant{model: model.New()}
		one.files.ID = name(t) + own
		one.ask = h.account(t, one.files.ID)
		clients[own] = one.ask
		dir := t.TempDir()
		profilesFile(t, dir, [4]string{"700", "DE", "EUR", "seller"}, [4]string{own, country, "EUR", "seller"})
		put(t, dir, "rates.csv", []byte("date,currency,usd\n"+daysAgo(12)+",EUR,1."+own+"\n"))
		for _, profile := range []string{"700", own} {
			exportPair("campaigns-"+profile, profile, "campaigns", time.Now(), campaignRow("9700", "Of "+own, "EUR"), campaignRow("9"+own, "Of "+own, "EUR")).write(t, dir)
			group := adGroupRow("8700", "9700", "Of "+own)
			group["bid"] = nil
			exportPair("groups-"+profile, profile, "adGroups", time.Now(), group).write(t, dir)
			spPair("figures-"+profile, profile, daysAgo(12), 3, time.Now()).write(t, dir)
		}
		put(t, dir, "rules.ndjson", lines(t, with(ruleLine("rule-700"), "name", "Of "+own), with(ruleLine("rule-"+own), "name", "Of "+own)))
		put(t, dir, "rule_runs.ndjson", lines(t, with(runLine("run-"+own, "rule-700"), "changed", 701), runLine("own-"+own, "rule-"+own)))
		put(t, dir, "activity.ndjson", lines(t, with(activityLine("entry-"+own, "700"), "summary", "Of "+own)))
		load(t, h.Program, one, dir)
	}
	return clients["701"], clients["702"]
}

// bare is an answer without what differs between any two requests.
func bare(a harness.Answer, id string) string {
	header := http.Header{}
	for name, values := range a.Header {
		if name != "X-Request-Id" && name != "Date" {
			header[name] = values
		}
	}
	text := strings.ReplaceAll(string(a.Body), a.Header.Get("X-Request-Id"), "-")
	return strings.ReplaceAll(fmt.Sprint(a.Status, header, text), id, "ID")
}

func TestAnothersIdsAreAnsweredToTheByteLikeThoseOfNobody(t *testing.T) {
	t.Parallel()
	asking, _ := neighbours(t)
	for _, i := range identities {
		at := func(id string) harness.Answer { return get(t, asking, "/api/v1"+strings.Replace(i.path, "ID", id, 1)) }
		for _, mine := range []string{i.own, i.both} {
			if a := at(mine); a.Status != 200 || strings.Contains(string(a.Body), "702") {
				t.Errorf("%s of %s: %s", i.path, mine, a)
			}
		}
		other, absent := at(i.other), at(i.absent)
		if other.Status != i.status || strings.Contains(string(other.Body), "Of ") {
			t.Errorf("%s of %s: want %d, got %s", i.path, i.other, i.status, other)
		}
		// A country has a name, by which the two differ.
		spelled := strings.NewReplacer("Italy", "COUNTRY", "Spain", "COUNTRY")
		if theirs, nobodys := spelled.Replace(bare(other, i.other)), spelled.Replace(bare(absent, i.absent)); theirs != nobodys {
			t.Errorf("%s: another account's id is told apart:\n  %s\n  %s", i.path, theirs, nobodys)
		}
	}
}

func TestNoAnswerHoldsAnythingOfAnotherAccountWithTheSameIds(t *testing.T) {
	t.Parallel()
	asking, other := neighbours(t)
	for _, path := range []string{"/account", "/marketplaces", "/summary?range=all_time", "/timeline?range=all_time", "/reports/products?range=all_time",
		"/campaigns?marketplace_id=700", "/ad-groups?marketplace_id=700", "/rules", "/rules/rule-700/runs", "/activity"} {
		mine, theirs := get(t, asking, "/api/v1"+path), get(t, other, "/api/v1"+path)
		if mine.Status != 200 || theirs.Status != 200 {
			t.Fatalf("%s: %s %s", path, mine, theirs)
		}
		if strings.Contains(string(mine.Body), "702") || string(mine.Body) == string(theirs.Body) {
			t.Errorf("%s: something of the neighbour: %s", path, mine)
		}
		if tag := mine.Header.Get("ETag"); tag != "" {
			if tag == theirs.Header.Get("ETag") {
				t.Errorf("%s: both accounts' answers have the tag %s", path, tag)
			}
			if again := get(t, other, "/api/v1"+path, "If-None-Match", tag); again.Status != 200 {
				t.Errorf("%s: the neighbour's tag is answered with %d", path, again.Status)
			}
		}
		var body map[string]any
		need(t, json.Unmarshal(mine.Body, &body))
	}
}
