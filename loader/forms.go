package loader

import (
	"context"
	"errors"
	"maps"

	"adlens"
	"adlens/internal/manifest"
	"adlens/internal/platform"
)

// Forms are the campaigns of Sponsored Brands that a list ever had: of one ad group
// where one said so, else of several where one said that, else of a form that is not
// known. What a list said once is not taken back, so that figures do not depend on the
// order in which lists are loaded.
type Forms map[ListedCampaign]platform.Form

// ListedCampaign is a campaign of a marketplace.
type ListedCampaign struct {
	Marketplace uint16 // its key
	ID          string
}

// keepForms keeps what lists say of the forms of campaigns, also lists that are
// older than what is held.
func (b *build) keepForms(ctx context.Context, market Marketplace, lists []*list) error {
	s, next := b.session, maps.Clone(b.session.forms)
	for _, l := range lists {
		for _, c := range l.campaigns {
			of := ListedCampaign{market.Key, c.ID}
			if c.AdProduct != adlens.SponsoredBrands {
				continue
			}
			before, known := next[of]
			next[of] = mergeForms(before, c.Form)
			// Figures of campaigns that were not known were refused.
			if known && (next[of] == platform.OneAdGroup) != (before == platform.OneAdGroup) {
				b.relisted[market.Key] = true
			}
		}
	}
	if maps.Equal(next, s.forms) {
		return nil
	}
	ub, err := b.beginUnit(ctx, manifest.Unit{Kind: manifest.Forms})
	if err != nil {
		return err
	}
	ub.entry.Rows = uint64(len(next))
	if s.forms = next; len(b.relisted) > 0 && s.rates.ByHand == nil {
		if err := errors.Join(s.readRates(ctx), s.requireEntities(ctx)); err != nil {
			return err
		}
		b.rates = s.rates
	}
	return s.store.InsertForms(ctx, s.account, ub.entry.Generation, next)
}

func mergeForms(before, said platform.Form) platform.Form {
	if before == platform.OneAdGroup || said == platform.UnknownForm {
		return before
	}
	return said
}

// checkListed refuses figures of a campaign in a legacy report that no list has: a
// list may yet say that they count. Waiting for one that has the campaign, but leaves
// out its form, might never end.
func (d *download) checkListed(row *platform.Row) error {
	if !d.report.Type.Legacy || !hasFigures(row) {
		return nil
	}
	if _, known := d.forms[ListedCampaign{d.market.Key, row.Campaign}]; known {
		return nil
	}
	value := row.Campaign
	if value == "" {
		value = "missing"
	}
	return &unlisted{&platform.Fault{Row: row.Number, Field: platform.CampaignColumn, Value: value,
		Expected: "a campaign of Sponsored Brands that is in a list of profile " + d.market.ID +
			" (adlens serve reads it through the account's connection; or load an export of campaigns first)"}}
}

// unlisted is the fault of a campaign that no list has.
type unlisted struct{ error }

// Unwrap returns the fault of the row.
func (u *unlisted) Unwrap() error { return u.error }

func hasFigures(row *platform.Row) bool {
	for _, n := range row.Counts {
		if n != 0 {
			return true
		}
	}
	for _, a := range row.Amounts {
		if a != (adlens.Amount{}) {
			return true
		}
	}
	return false
}
