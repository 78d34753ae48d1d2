package api

import (
	"strings"
	"testing"

	"adlens"
	"adlens/internal/platform"
)

func TestAWrongRowFailsTheList(t *testing.T) {
	row := func(changes string) string {
		return `{"campaigns":[{"campaignId":"1","state":"ENABLED"},{` + changes + `}],"totalResults":2}`
	}
	for says, body := range map[string]string{
		"row 2: state is SLEEPING":        row(`"campaignId":"2","state":"SLEEPING"`),
		"row 2: campaignId expected":      row(`"state":"ENABLED"`),
		"row 2: budget.budget is -1":      row(`"campaignId":"2","state":"ENABLED","budget":{"budget":-1}`),
		`row 2: budget is "ten"`:          row(`"campaignId":"2","state":"ENABLED","budget":"ten"`),
		"row 2: endDate is 2026-02-30":    row(`"campaignId":"2","state":"ENABLED","endDate":"2026-02-30"`),
		"row 2: startDate is 20261301":    row(`"campaignId":"2","state":"ENABLED","startDate":20261301`),
		"row 2: startDate is 0001-01-01":  row(`"campaignId":"2","state":"ENABLED","startDate":"0001-01-01"`),
		"row 2: campaignId is a b":        row(`"campaignId":"a b","state":"ENABLED"`),
		"row 2: state is *** ,":           strings.ReplaceAll(row(`"campaignId":"2","state":"`+canaryAccess+` "`), " ,", ","),
		"its campaigns are no array":      `{"campaigns":{},"totalResults":2}`,
		"its campaigns are no array of o": `{"totalResults":2}`,
		"its campaigns are no array of":   `{}`,
		"its totalResults is no count":    `{"campaigns":[],"totalResults":"many"}`,
		"its totalCount is no count":      `{"campaigns":[],"totalCount":-1}`,
		"its nextToken is no text":        `{"campaigns":[],"nextToken":7}`,
		"it is damaged or no JSON object": `[]`,
		"no JSON object, expected one":    `<html>`,
	} {
		r := newRig(t, say(200, body))
		_, err := r.client.Campaigns(ctx, "1", adlens.SponsoredProducts)
		r.fails(err, BadAnswer, says, "after 5 tries")
	}
	r := newRig(t, say(200, `{"message":"x"}`))
	_, err := r.client.Campaigns(ctx, "1", adlens.SponsoredDisplay)
	r.fails(err, BadAnswer, "no array of objects")
}

// The flag is of Sponsored Brands alone; where it is absent nothing is known.
func TestLegacyCampaignsAreKnownByTheirFlag(t *testing.T) {
	for flag, form := range map[string]platform.Form{`,"isMultiAdGroupsEnabled":false`: platform.OneAdGroup, `,"isMultiAdGroupsEnabled":true`: platform.ManyAdGroups, `,"isMultiAdGroupsEnabled":null`: platform.UnknownForm, ``: platform.UnknownForm} {
		for _, p := range []adlens.AdProduct{adlens.SponsoredBrands, adlens.SponsoredProducts} {
			r := newRig(t, say(200, `{"campaigns":[{"campaignId":"1","state":"ARCHIVED"`+flag+`}],"totalResults":1}`))
			list, err := r.client.Campaigns(ctx, "1", p)
			if p != adlens.SponsoredBrands {
				form = platform.UnknownForm
			}
			if err != nil || list.Rows[0].Form != form {
				t.Errorf("%s %s: %+v, %v", p, flag, list.Rows, err)
			}
		}
	}
}
