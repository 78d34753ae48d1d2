package requests_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"adlens/integration/house"
)

// wrongLists is wrong on every list. What is compared or covers a period is
// not asked of a list.
var wrongLists = []wrong{
	{query: "range=today", code: "unknown_parameter", parameter: "range"},
	{query: "compare=none", code: "unknown_parameter", parameter: "compare"},
	{query: "sort=name", code: "unknown_parameter", parameter: "sort"},
	{query: "marketplaces=US", code: "unknown_parameter", parameter: "marketplaces"},
	{query: "format=pdf", code: "unknown_value", parameter: "format", value: "pdf"},
	{query: "format=", code: "invalid_parameter", parameter: "format"},
	{query: "format=json&format=json", code: "invalid_parameter", parameter: "format"},
	{query: "formt=json", code: "unknown_parameter", parameter: "formt", mean: "format"},
	{query: "a;b", code: "invalid_parameter"},
	{query: "%zz", code: "invalid_parameter"},
}

var wrongPages = []wrong{
	{query: "page=0", code: "invalid_parameter", parameter: "page", value: "0"},
	{query: "page=-1", code: "invalid_parameter", parameter: "page", value: "-1"},
	{query: "page=one", code: "invalid_parameter", parameter: "page", value: "one"},
	{query: "page=", code: "invalid_parameter", parameter: "page"},
	{query: "page=1&page=2", code: "invalid_parameter", parameter: "page"},
	{query: "page=99999999999999999999", code: "invalid_parameter", parameter: "page"},
	{query: "page_size=0", code: "invalid_parameter", parameter: "page_size", value: "0"},
	{query: "page_size=-5", code: "invalid_parameter", parameter: "page_size", value: "-5"},
	{query: "page_size=1001", code: "invalid_parameter", parameter: "page_size", value: "1001"},
	{query: "page_size=100000", code: "invalid_parameter", parameter: "page_size", value: "100000"},
	{query: "page_size=some", code: "invalid_parameter", parameter: "page_size", value: "some"},
	{query: "page_size=", code: "invalid_parameter", parameter: "page_size"},
	{query: "pagesize=5", code: "unknown_parameter", parameter: "pagesize", mean: "page_size"},
}

var wrongEntities = []wrong{
	{query: "", code: "missing_parameter", parameter: "marketplace_id"},
	{query: "marketplace_id=", code: "invalid_parameter", parameter: "marketplace_id"},
	{query: "marketplace_id=999", code: "unknown_value", parameter: "marketplace_id", value: "999"},
	{query: "marketplace_id=US", code: "unknown_value", parameter: "marketplace_id", value: "US"},
	{query: "marketplace_id=101,102", code: "unknown_value", parameter: "marketplace_id", value: "101,102"},
	{query: "marketplace_id=0101", code: "unknown_value", parameter: "marketplace_id", value: "0101"},
	{query: "marketplace_id=101'", code: "unknown_value", parameter: "marketplace_id", value: "101'"},
	{query: "marketplace_id=101&marketplace_id=101", code: "invalid_parameter", parameter: "marketplace_id"},
	{query: "marketplace_id=101&page_size=all", code: "invalid_parameter", parameter: "page_size", value: "all"},
	{query: "marketplace_id=101&tool=rule", code: "unknown_parameter", parameter: "tool"},
	{query: "marketplace_id=101&marketplaceid=101", code: "unknown_parameter", parameter: "marketplaceid", mean: "marketplace_id"},
}

// ofMarketplace puts the parameter in front that is always needed.
func ofMarketplace(tables ...[]wrong) []wrong {
	all := slices.Concat(tables...)
	for i := range all {
		all[i].query = "marketplace_id=101&" + all[i].query
	}
	return all
}

var listedStates = []string{"ENABLED", "PAUSED"}

var wrongCampaigns = []wrong{
	{query: "states=ARCHIVED", code: "unknown_value", parameter: "states", value: "ARCHIVED", allowed: listedStates},
	{query: "states=enabled,archived", code: "unknown_value", parameter: "states", value: "archived", allowed: listedStates},
	{query: "states=RUNNING", code: "unknown_value", parameter: "states", value: "RUNNING", allowed: listedStates},
	{query: "states=ENABLE", code: "unknown_value", parameter: "states", value: "ENABLE", mean: "ENABLED"},
	{query: "states=ENABLING", code: "unknown_value", parameter: "states", value: "ENABLING"},
	{query: "states=", code: "invalid_parameter", parameter: "states"},
	{query: "states=ENABLED,,PAUSED", code: "invalid_parameter", parameter: "states"},
	{query: "states=ENABLED&states=BROKEN", code: "unknown_value", parameter: "states", value: "BROKEN"},
	{query: "state=ENABLED", code: "unknown_parameter", parameter: "state", mean: "states"},
	{query: "campaign_id=1", code: "unknown_parameter", parameter: "campaign_id"},
}

var wrongAdGroups = []wrong{
	{query: "campaign_id=", code: "invalid_parameter", parameter: "campaign_id"},
	{query: "campaign_id=1&campaign_id=2", code: "invalid_parameter", parameter: "campaign_id"},
	{query: "campaign=1", code: "unknown_parameter", parameter: "campaign"},
	{query: "states=ENABLED", code: "unknown_parameter", parameter: "states"},
}

var wrongMarketplaces = []wrong{
	{query: "page=1", code: "unknown_parameter", parameter: "page"},
	{query: "page_size=10", code: "unknown_parameter", parameter: "page_size"},
	{query: "marketplace_id=101", code: "unknown_parameter", parameter: "marketplace_id"},
}

var wrongRules = []wrong{
	{query: "tool=rule", code: "unknown_parameter", parameter: "tool"},
	{query: "status=on", code: "unknown_parameter", parameter: "status"},
}

// wrongRuns is asked of a rule that there is not: parameters are judged before
// the thing.
var wrongRuns = []wrong{
	{query: "page=1", code: "unknown_parameter", parameter: "page"},
	{query: "rule_id=1", code: "unknown_parameter", parameter: "rule_id"},
}

var tools = []string{"campaign_copy", "campaign_create", "product_add", "rule", "undo"}

var wrongActivity = []wrong{
	{query: "tool=rules", code: "unknown_value", parameter: "tool", value: "rules", mean: "rule", allowed: tools},
	{query: "tool=rule,campaign", code: "unknown_value", parameter: "tool", value: "campaign", allowed: tools},
	{query: "tool=", code: "invalid_parameter", parameter: "tool"},
	{query: "tool=rule,,undo", code: "invalid_parameter", parameter: "tool"},
	{query: "tool=rule&tool=redo", code: "unknown_value", parameter: "tool", value: "redo"},
	{query: "tools=rule", code: "unknown_parameter", parameter: "tools", mean: "tool"},
	{query: "marketplace_id=101", code: "unknown_parameter", parameter: "marketplace_id"},
}

func TestArchivedCampaignsAreSaidNeverToBeListed(t *testing.T) {
	t.Parallel()
	_, one := house.ShopWithData(t)
	p := house.ProblemOf(t, house.Get(t, one.Ask, "/api/v1/campaigns?marketplace_id=101&states=Archived"), 400, "unknown_value")
	if !strings.Contains(p.Detail, "rchived") || !strings.Contains(p.Detail, "never listed") {
		t.Errorf("want the detail to say that archived campaigns are never listed, got %q", p.Detail)
	}
}

func TestAllFaultsOfAListRequestAreSaidInTheOrderOfTheParameters(t *testing.T) {
	t.Parallel()
	_, one := house.ShopWithData(t)
	for path, want := range map[string][]string{
		"/campaigns?page_size=all&page=0&states=RUNNING,PAUSED,ARCHIVED&marketplace_id=9": {
			"marketplace_id=9", "states=RUNNING", "states=ARCHIVED", "page=0", "page_size=all"},
		"/ad-groups?page_size=1001&page=x":      {"marketplace_id=<nil>", "page=x", "page_size=1001"},
		"/activity?page_size=0&page=0&tool=a,b": {"tool=a", "tool=b", "page=0", "page_size=0"},
	} {
		a := house.Get(t, one.Ask, "/api/v1"+path)
		var got []string
		for _, e := range house.ProblemOf(t, a, 400, problemCode(a)).Errors {
			value := e.Value
			if e.Code == "missing_parameter" {
				value = nil // null, empty or left out: not settled
			}
			got = append(got, fmt.Sprintf("%s=%v", e.Parameter, value))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: want faults %v, got %v", path, want, got)
		}
	}
}

func TestListRequestsAtTheEdgeAreAnswered(t *testing.T) {
	t.Parallel()
	_, one := house.ShopWithData(t)
	for _, path := range []string{
		"/campaigns?marketplace_id=101&page_size=1", "/campaigns?marketplace_id=101&page_size=1000", "/campaigns?marketplace_id=101&page=1000000",
		"/campaigns?marketplace_id=101&states=%20enabled%20,Paused,ENABLED", "/ad-groups?marketplace_id=102&page_size=1000&page=7",
		"/rules?page_size=1", "/rules?page_size=1000&page=3", "/rules?page_size=all", "/activity?page_size=all", "/activity?page_size=1",
		"/activity?tool=%20Rule,UNDO,undo", "/activity?page=1000000", "/marketplaces?format=json", "/rules?format=JSON", "/marketplaces?",
	} {
		if a := house.Get(t, one.Ask, "/api/v1"+path); a.Status != 200 {
			t.Errorf("%s: %s", path, a)
		}
	}
}

// An address holds more than a thousand parameters: all are read, and what is wrong with
// them is counted.
func TestAListMayBeGivenInAThousandParameters(t *testing.T) {
	t.Parallel()
	_, one := house.ShopWithData(t)
	path := "/api/v1/campaigns?marketplace_id=101" + strings.Repeat("&states=PAUSED", 1_000)
	if a := house.Get(t, one.Ask, path); a.Status != 200 {
		t.Errorf("a list of a thousand values: %s", a)
	}
	for _, more := range []string{"&a", "&states=x"} {
		path := "/api/v1/campaigns?page=0" + strings.Repeat(more, 1_500)
		faults := house.ProblemOf(t, house.Get(t, one.Ask, path), 400, "missing_parameter").Errors
		if len(faults) != 1_000 || faults[0].Parameter != "marketplace_id" || !strings.HasSuffix(faults[999].Detail, "; 502 more faults are not listed") {
			t.Errorf("%s: %d faults from %+v to %+v", more, len(faults), faults[0], faults[len(faults)-1])
		}
	}
}

func TestACampaignIdIsJudgedOnceAListIsHeld(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithLists(t)
	const path = "/api/v1/ad-groups?marketplace_id="
	// No list of 102 is held, so no id is known yet.
	house.Check(t, one.Ask, one.Model, house.NewQuestion("/ad-groups", "marketplace_id=102&campaign_id=1"))
	house.Check(t, one.Ask, one.Model, house.NewQuestion("/ad-groups", "marketplace_id=101&campaign_id=1"))
	house.Check(t, one.Ask, one.Model, house.NewQuestion("/ad-groups", "marketplace_id=101&campaign_id=2")) // without any ad group
	for _, id := range []string{"999", "01", "1.0", "One", "4", "11", "1,2", strings.Repeat("9", 400)} {
		p := house.ProblemOf(t, house.Get(t, one.Ask, path+"101&campaign_id="+id), 400, "unknown_value")
		if len(p.Errors) != 1 || p.Errors[0].Parameter != "campaign_id" || fmt.Sprint(p.Errors[0].Value) != id {
			t.Errorf("want one fault of campaign_id %s, got %+v", id, p.Errors)
		}
	}
	// An emptied list is held: now an id is unknown there.
	house.Load(t, h.Program, one, house.ExportPair("empty", "102", "campaigns", time.Now()).Write(t, t.TempDir())...)
	house.ProblemOf(t, house.Get(t, one.Ask, path+"102&campaign_id=1"), 400, "unknown_value")
	house.Check(t, one.Ask, one.Model, house.NewQuestion("/campaigns", "marketplace_id=102"))
}
