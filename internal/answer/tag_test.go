package answer

import (
	"context"
	"testing"
	"time"

	"adlens"
	"adlens/internal/auth"
	"adlens/internal/platform"
	"adlens/internal/query"
)

// oneCampaign is a store of one campaign.
type oneCampaign struct{ query.ListStore }

func (oneCampaign) Count(context.Context, query.Statement) (int, error) { return 1, nil }

func (oneCampaign) Campaigns(context.Context, query.Statement) ([]query.Campaign, error) {
	return []query.Campaign{{Campaign: platform.Campaign{ID: "7", Name: "Lamps", AdProduct: adlens.SponsoredProducts, State: "enabled"}, Provenance: "untouched"}}, nil
}

// Clients hold tags while a server is upgraded. One that is another here without a change
// of the answer's bytes makes them all download everything again. Where the bytes were
// changed on purpose, these texts change.
func TestTagsAreThoseOfEveryVersionOfTheProgram(t *testing.T) {
	store := &reading{version: 7}
	s := New(Config{Figures: query.NewService(store, oneCampaign{}), Lists: store, Now: func() time.Time { return now }})
	for _, c := range []struct {
		endpoint, format, want string
		parameters             []Parameter
	}{
		{"summary", query.JSON, "6d0eddb03b6384e8690d932e42e6cee1", []Parameter{{"range", "this_month"}, {"compare", "previous_period"}}},
		{"timeline", query.JSON, "087ff77850414d03194fa9365316c597", []Parameter{{"range", "this_month"}}},
		{"reports/products", query.JSON, "604e9db07c433edb09748f6683f7e866", []Parameter{{"range", "this_month"}}},
		{"report", query.CSV, "1f31542753732755354a811f927de1d4", []Parameter{{"dimensions", "product"}, {"figures", "ctr,spend"}, {"headers", "labels"}}},
		{"campaigns", query.NDJSON, "f3f4954410c35a57cb52c287129adf95", []Parameter{{"marketplace_id", "101"}}},
	} {
		q, err := s.Ask(t.Context(), auth.Caller{Account: adlens.Account{ID: "acme"}}, Request{Endpoint: c.endpoint, Parameters: c.parameters, Format: c.format})
		if err != nil {
			t.Fatal(err)
		}
		a, err := q.Answer(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if a.Tag != c.want {
			t.Errorf("%s: %s, want %s, of %s", c.endpoint, a.Tag, c.want, a.Body)
		}
		q.Close()
	}
}
