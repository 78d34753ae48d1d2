package requests_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"adlens/integration/harness"
	"adlens/integration/house"
	"adlens/integration/model"
)

// identity is a way to name a thing of an account: PATH with an id for ID.
type identity struct {
	path string
	// Ids of the asking account, of both accounts, of the other one alone, and
	// of no one. All have one length.
	own, both, other, absent string
	status                   int // for the other one's and for an unknown one
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
	h := house.Shared(t)
	clients := map[string]harness.Client{}
	for own, country := range map[string]string{"701": "FR", "702": "IT"} {
		one := &house.Tenant{Model: model.New()}
		one.Files.ID = house.AccountID(t) + own
		one.Ask = h.Client(t, one.Files.ID)
		clients[own] = one.Ask
		dir := t.TempDir()
		house.ProfilesFile(t, dir, [4]string{"700", "DE", "EUR", "seller"}, [4]string{own, country, "EUR", "seller"})
		house.Put(t, dir, "rates.csv", []byte("date,currency,usd\n"+house.DaysAgo(12)+",EUR,1."+own+"\n"))
		for _, profile := range []string{"700", own} {
			house.ExportPair("campaigns-"+profile, profile, "campaigns", time.Now(), house.CampaignRow("9700", "Of "+own, "EUR"), house.CampaignRow("9"+own, "Of "+own, "EUR")).Write(t, dir)
			group := house.AdGroupRow("8700", "9700", "Of "+own)
			group["bid"] = nil
			house.ExportPair("groups-"+profile, profile, "adGroups", time.Now(), group).Write(t, dir)
			house.SpPair("figures-"+profile, profile, house.DaysAgo(12), 3, time.Now()).Write(t, dir)
		}
		house.Put(t, dir, "rules.ndjson", house.Lines(t, house.With(house.RuleLine("rule-700"), "name", "Of "+own), house.With(house.RuleLine("rule-"+own), "name", "Of "+own)))
		house.Put(t, dir, "rule_runs.ndjson", house.Lines(t, house.With(house.RunLine("run-"+own, "rule-700"), "changed", 701), house.RunLine("own-"+own, "rule-"+own)))
		house.Put(t, dir, "activity.ndjson", house.Lines(t, house.With(house.ActivityLine("entry-"+own, "700"), "summary", "Of "+own)))
		house.Load(t, h.Program, one, dir)
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
		at := func(id string) harness.Answer {
			return house.Get(t, asking, "/api/v1"+strings.Replace(i.path, "ID", id, 1))
		}
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
		mine, theirs := house.Get(t, asking, "/api/v1"+path), house.Get(t, other, "/api/v1"+path)
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
			if again := house.Get(t, other, "/api/v1"+path, "If-None-Match", tag); again.Status != 200 {
				t.Errorf("%s: the neighbour's tag is answered with %d", path, again.Status)
			}
		}
		var body map[string]any
		house.Need(t, json.Unmarshal(mine.Body, &body))
	}
}
