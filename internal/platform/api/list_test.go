package api

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"adlens"
	"adlens/internal/platform"
)

func dayAt(text string) *adlens.Day {
	d, _ := adlens.ParseDay(text)
	return &d
}

func same[T any](t *testing.T, got, want T) {
	t.Helper()
	g, w := fmt.Sprint(plain(got)), fmt.Sprint(plain(want))
	if g != w {
		t.Errorf("got %s, expected %s", g, w)
	}
}

// plain follows pointers, which fmt does not.
func plain(x any) string {
	if c, ok := x.(platform.Campaign); ok {
		return fmt.Sprintf("%s|%s|%s|%s|%s|%v|%s|%v|%v", c.ID, c.Name, c.AdProduct, c.State, c.Targeting, c.Budget, c.BudgetType, c.Start, c.End)
	}
	if g, ok := x.(platform.AdGroup); ok {
		return fmt.Sprintf("%s|%s|%s|%s|%s|%v", g.ID, g.CampaignID, g.Name, g.AdProduct, g.State, g.DefaultBid)
	}
	return fmt.Sprintf("%+v", x)
}

func money(text string) *adlens.Amount {
	a, _ := adlens.ParseAmount([]byte(text))
	return &a
}

func TestCampaignsOfAllProductsAreSpelledAlike(t *testing.T) {
	for product, c := range map[adlens.AdProduct]struct {
		body string
		want []platform.Campaign
	}{
		adlens.SponsoredProducts: {`{"campaigns":[
			{"campaignId":"276748589410145","name":"A","state":"ENABLED","targetingType":"AUTO","budget":{"budget":100.25,"budgetType":"DAILY"},
			 "dynamicBidding":{},"startDate":"2022-10-31","endDate":null,"new":1},
			{"campaignId":"2","name":"B","state":"USER_DELETED","targetingType":"MANUAL","budget":{"budget":1,"budgetType":"OTHER"},"startDate":"2022-10-31","endDate":"2022-11-08"}],"totalResults":2}`,
			[]platform.Campaign{
				{ID: "276748589410145", Name: "A", AdProduct: 1, State: platform.Enabled, Targeting: "AUTO", Budget: money("100.25"), BudgetType: "DAILY", Start: dayAt("2022-10-31")},
				{ID: "2", Name: "B", AdProduct: 1, State: platform.Archived, Targeting: "MANUAL", Budget: money("1"), Start: dayAt("2022-10-31"), End: dayAt("2022-11-08")}}},
		adlens.SponsoredBrands: {`{"campaigns":[{"campaignId":"144158449488730278","name":"B","state":"PAUSED","budget":10,"budgetType":"LIFETIME","startDate":"2023-05-21"}],"totalCount":1.0}`,
			[]platform.Campaign{{ID: "144158449488730278", Name: "B", AdProduct: 2, State: platform.Paused, Budget: money("10"), BudgetType: "LIFETIME", Start: dayAt("2023-05-21")}}},
		adlens.SponsoredDisplay: {`[{"campaignId":25934734632378,"name":"D","tactic":"T00020","startDate":"20230208","endDate":"20230215","state":"archived","budget":1.0,"budgetType":"daily"}]`,
			[]platform.Campaign{{ID: "25934734632378", Name: "D", AdProduct: 3, State: platform.Archived, Budget: money("1"), BudgetType: "DAILY", Start: dayAt("2023-02-08"), End: dayAt("2023-02-15")}}},
	} {
		t.Run(product.String(), func(t *testing.T) {
			r := newRig(t, script(say(200, c.body), say(200, `[]`)))
			got, err := r.client.Campaigns(ctx, "1", product)
			r.succeeds(err)
			if len(got.Rows) != len(c.want) {
				t.Fatalf("%d campaigns", len(got.Rows))
			}
			for i := range got.Rows {
				same(t, got.Rows[i], c.want[i])
			}
		})
	}
}

func TestAdGroupsOfAllProductsAreSpelledAlike(t *testing.T) {
	for product, c := range map[adlens.AdProduct]struct {
		body string
		want platform.AdGroup
	}{
		1: {`{"adGroups":[{"adGroupId":"1","campaignId":"2","name":"G","state":"ENABLED","defaultBid":0.75}],"totalResults":1}`,
			platform.AdGroup{ID: "1", CampaignID: "2", Name: "G", AdProduct: 1, State: platform.Enabled, DefaultBid: money("0.75")}},
		2: {`{"adGroups":[{"adGroupId":"144346139432941903","campaignId":"2","name":"G","state":"ENABLED","extendedData":{}}],"totalResults":1}`,
			platform.AdGroup{ID: "144346139432941903", CampaignID: "2", Name: "G", AdProduct: 2, State: platform.Enabled}},
		3: {`[{"adGroupId":1,"campaignId":2,"name":"G","state":"paused","defaultBid":1,"creativeType":null}]`,
			platform.AdGroup{ID: "1", CampaignID: "2", Name: "G", AdProduct: 3, State: platform.Paused, DefaultBid: money("1")}},
	} {
		r := newRig(t, script(say(200, c.body), say(200, `[]`)))
		got, err := r.client.AdGroups(ctx, "1", product)
		r.succeeds(err)
		same(t, got.Rows[0], c.want)
	}
}

func TestAdsOfAllProductsAreSpelledAlike(t *testing.T) {
	for product, c := range map[adlens.AdProduct]struct {
		body string
		want []platform.Ad
	}{
		1: {`{"productAds":[{"adId":"1","adGroupId":"2","campaignId":"3","asin":"B0","state":"ENABLED"}],"totalResults":1}`,
			[]platform.Ad{{ID: "1", AdGroupID: "2", AdProduct: 1, State: platform.Enabled}}},
		2: {`{"ads":[{"adGroupId":"2","campaignId":"3","state":"ENABLED"},{"adGroupId":"2","campaignId":"3","state":"PAUSED"},{"adId":"9","adGroupId":"2","state":"ARCHIVED"}],"totalResults":3}`,
			[]platform.Ad{{AdGroupID: "2", AdProduct: 2, State: platform.Enabled}, {AdGroupID: "2", AdProduct: 2, State: platform.Paused}, {ID: "9", AdGroupID: "2", AdProduct: 2, State: platform.Archived}}},
		3: {`[{"adId":1,"adGroupId":2,"campaignId":3,"state":"paused","asin":"B0"}]`,
			[]platform.Ad{{ID: "1", AdGroupID: "2", AdProduct: 3, State: platform.Paused}}},
	} {
		r := newRig(t, script(say(200, c.body), say(200, `[]`)))
		got, err := r.client.Ads(ctx, "1", product)
		r.succeeds(err)
		same(t, got.Rows, c.want)
		if stated := product != adlens.SponsoredDisplay; got.Stated && !stated {
			t.Error("Sponsored Display is reported to have a total")
		}
	}
}

func TestListsAreAskedForAsDocumented(t *testing.T) {
	type asked struct{ method, path, media, accept, body string }
	for _, c := range []struct {
		product adlens.AdProduct
		entity  string
		want    asked
	}{
		{1, "campaigns", asked{"POST", "/sp/campaigns/list", "application/vnd.spCampaign.v3+json", "application/vnd.spCampaign.v3+json", "100"}},
		{1, "groups", asked{"POST", "/sp/adGroups/list", "application/vnd.spAdGroup.v3+json", "application/vnd.spAdGroup.v3+json", "1000"}},
		{1, "ads", asked{"POST", "/sp/productAds/list", "application/vnd.spProductAd.v3+json", "application/vnd.spProductAd.v3+json", "1000"}},
		{2, "campaigns", asked{"POST", "/sb/v4/campaigns/list", "application/vnd.sbcampaignresource.v4+json", "application/vnd.sbcampaignresource.v4+json", "100"}},
		{2, "groups", asked{"POST", "/sb/v4/adGroups/list", "application/vnd.sbadgroupresource.v4+json", "application/vnd.sbadgroupresource.v4+json", "100"}},
		{2, "ads", asked{"POST", "/sb/v4/ads/list", "application/vnd.sbadresource.v4+json", "application/vnd.sbadresource.v4+json", "100"}},
		{3, "campaigns", asked{"GET", "/sd/campaigns?count=100&startIndex=0&stateFilter=enabled%2Cpaused%2Carchived", "", "application/json", ""}},
		{3, "groups", asked{"GET", "/sd/adGroups?count=100&startIndex=0&stateFilter=enabled%2Cpaused%2Carchived", "", "application/json", ""}},
		{3, "ads", asked{"GET", "/sd/productAds?count=100&startIndex=0&stateFilter=enabled%2Cpaused%2Carchived", "", "application/json", ""}},
	} {
		var got asked
		r := newRig(t, func(w http.ResponseWriter, q *http.Request) {
			body, _ := io.ReadAll(q.Body)
			got = asked{q.Method, q.URL.String(), q.Header.Get("Content-Type"), q.Header.Get("Accept"), string(body)}
			if q.Method == "GET" {
				_, _ = io.WriteString(w, `[]`)
				return
			}
			_, _ = io.WriteString(w, `{"totalResults":0}`)
		})
		var err error
		switch c.entity {
		case "campaigns":
			_, err = r.client.Campaigns(ctx, "1", c.product)
		case "groups":
			_, err = r.client.AdGroups(ctx, "1", c.product)
		default:
			_, err = r.client.Ads(ctx, "1", c.product)
		}
		r.succeeds(err)
		if c.want.body != "" {
			c.want.body = `{"maxResults":` + c.want.body + `,"stateFilter":{"include":["ENABLED","PAUSED","ARCHIVED"]}}`
		}
		if got != c.want {
			t.Errorf("asked %v, expected %v", got, c.want)
		}
	}
	r := newRig(t, say(200, `[]`))
	_, err := r.client.Ads(ctx, "1", adlens.AdProduct(9))
	r.fails(err, Invalid)
}

// tree is a platform with n ads, size a page.
func tree(n, size int) http.HandlerFunc {
	return func(w http.ResponseWriter, q *http.Request) {
		var question struct{ NextToken string }
		_ = json.NewDecoder(q.Body).Decode(&question)
		from := 0
		_, _ = fmt.Sscanf(strings.TrimPrefix(question.NextToken, "t"), "%d", &from)
		_, _ = fmt.Sscanf(q.URL.Query().Get("startIndex"), "%d", &from)
		var rows []string
		for i := from; i < min(from+size, n); i++ {
			rows = append(rows, fmt.Sprintf(`{"adId":"%d","adGroupId":"2","campaignId":"3","state":"enabled"}`, i+1))
		}
		list := "[" + strings.Join(rows, ",") + "]"
		if q.Method == "GET" {
			_, _ = io.WriteString(w, list)
			return
		}
		next := ""
		if from+size < n {
			next = fmt.Sprintf(`,"nextToken":"t%d"`, from+size)
		}
		_, _ = fmt.Fprintf(w, `{"productAds":%s,"ads":%s,"totalResults":%d%s}`, list, list, n, next)
	}
}

func TestAllPagesAreRead(t *testing.T) {
	for _, product := range adlens.AdProducts {
		for _, n := range []int{0, 1, 99, 100, 101, 250} {
			// A platform whose pages are smaller than requested must not cut a list short.
			for _, size := range []int{100, 30} {
				r := newRig(t, tree(n, size))
				got, err := r.client.Ads(ctx, "1", product)
				r.succeeds(err)
				if len(got.Rows) != n {
					t.Errorf("%s: %d of %d ads by %d", product, len(got.Rows), n, size)
				}
				if got.Stated != (product != adlens.SponsoredDisplay) {
					t.Errorf("%s: the platform stated a total: %v", product, got.Stated)
				}
			}
		}
	}
}

// ad is a page of ads of Sponsored Products; a total of -1 is left out.
func ad(ids string, total int, next string) http.HandlerFunc {
	var rows []string
	for _, id := range strings.Fields(ids) {
		rows = append(rows, `{"adId":"`+id+`","adGroupId":"2","state":"ENABLED"}`)
	}
	body := `{"productAds":[` + strings.Join(rows, ",") + `]`
	if total >= 0 {
		body += fmt.Sprintf(`,"totalResults":%d`, total)
	}
	if next != "" {
		body += `,"nextToken":"` + next + `"`
	}
	return say(200, body+"}")
}

func TestPagesThatDoNotAddUpAreReadAgain(t *testing.T) {
	for name, torn := range map[string][]http.HandlerFunc{
		"a row vanished":      {ad("1 2", 4, "t"), ad("4", 4, "")},
		"a row came twice":    {ad("1 2", 4, "t"), ad("2 3", 4, "")},
		"the total changed":   {ad("1 2", 4, "t"), ad("3", 3, "")},
		"a total stated once": {ad("1 2", 4, "t"), ad("3", -1, "")},
		"more than the total": {ad("1 2 3", 2, "")},
		"a token came again":  {ad("1", 4, "t"), ad("2", 4, "t")},
		"twice without total": {ad("1", -1, "t"), ad("1", -1, "")},
	} {
		t.Run(name, func(t *testing.T) {
			whole := []http.HandlerFunc{ad("1 2", 3, "t"), ad("3", 3, "")}
			r := newRig(t, script(append(append([]http.HandlerFunc{}, torn...), whole...)...))
			got, err := r.client.Ads(ctx, "1", adlens.SponsoredProducts)
			r.succeeds(err)
			if len(got.Rows) != 3 || !got.Stated || len(r.sleeps) != 1 {
				t.Errorf("%d ads, stated %v, slept %v", len(got.Rows), got.Stated, r.sleeps)
			}
			var always []http.HandlerFunc
			for range 3 {
				always = append(always, torn...)
			}
			r = newRig(t, script(always...))
			got, err = r.client.Ads(ctx, "77", adlens.SponsoredProducts)
			r.fails(err, Incomplete, "ads of SPONSORED_PRODUCTS of profile 77", "read 3 times")
			if got.Rows != nil || len(r.calls) != len(always) {
				t.Errorf("%d ads after %d calls", len(got.Rows), len(r.calls))
			}
		})
	}
}

func TestAListWithoutTotalsIsReadAgainWhereIDsRepeat(t *testing.T) {
	row := `{"adId":1,"adGroupId":2,"state":"enabled"}`
	r := newRig(t, script(say(200, `[`+row+`]`), say(200, `[`+row+`]`), say(200, `[`+row+`]`), say(200, `[]`)))
	got, err := r.client.Ads(ctx, "1", adlens.SponsoredDisplay)
	r.succeeds(err)
	if len(got.Rows) != 1 {
		t.Errorf("%d ads", len(got.Rows))
	}
	if want := "startIndex=1"; !strings.Contains(r.calls[1], want) || !strings.Contains(r.calls[2], "startIndex=0") {
		t.Errorf("asked %v", r.calls)
	}
}

func TestEndlessListsAreRefused(t *testing.T) {
	n := 0
	endless := func(w http.ResponseWriter, q *http.Request) {
		n++
		ad(fmt.Sprint(n), -1, fmt.Sprintf("t%d", n))(w, q)
	}
	for says, shrink := range map[string]func(*limits){
		"does not end after 20 pages": func(l *limits) { l.listPages = 20 },
		"more than 15 rows":           func(l *limits) { l.listRows = 15 },
		"more than 900 bytes":         func(l *limits) { l.list = 900 },
	} {
		r := newRig(t, endless)
		shrink(&r.client.limits)
		_, err := r.client.Ads(ctx, "1", adlens.SponsoredProducts)
		r.fails(err, TooLarge, says)
		if len(r.calls) > 20 {
			t.Errorf("%d calls", len(r.calls))
		}
	}
}

func TestAListThatIsRefusedMidwayIsIncompleteAndNotRefused(t *testing.T) {
	refusal := say(400, `{"code":"400","details":"no"}`)
	r := newRig(t, refusal)
	_, err := r.client.Ads(ctx, "1", adlens.SponsoredProducts)
	r.fails(err, Refused)
	r = newRig(t, script(ad("1 2", 3, "t"), refusal))
	_, err = r.client.Ads(ctx, "1", adlens.SponsoredProducts)
	r.fails(err, Incomplete, "page 2 was refused")
}
