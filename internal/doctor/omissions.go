package doctor

import (
	"fmt"

	"adlens"
	"adlens/internal/manifest"
)

// checkOmissions names the campaigns of Sponsored Brands that the platform's reports
// leave out: the figures of their marketplaces are too low.
func (e *examination) checkOmissions(c *checkup) (string, error) {
	e.forEach(c, func(c *checkup, a account) error {
		for _, l := range a.manifest.Of(manifest.Campaigns) {
			if l.Slice.AdProduct == adlens.SponsoredBrands && len(l.Sources) > 0 && l.Sources[0].ReportID != "" && l.Sources[0].SHA256 == "" && l.Rows > 0 {
				c.addWarning("load the export once more, or a newer one", "the export %q of %s was loaded by an earlier version, which may not have noted the campaigns that reports leave out; sums may be too low",
					l.Sources[0].ReportID, a.unitName(l.Unit))
			}
		}
		view, err := e.db.Figures.View(e.ctx, a.ID)
		if err != nil {
			return err
		}
		for _, part := range view.MetaAtAll().Incomplete {
			var names []string
			for _, campaign := range part.Campaigns {
				names = append(names, fmt.Sprintf("%q (%s)", campaign.Name, campaign.ID))
			}
			if names != nil {
				c.addWarning("connected accounts get their figures from legacy reports with adlens pull or serve, as far as the platform has their days; others load them by hand",
					"the figures of %s of %s %s are too low: the platform reports none of %s with one ad group: %s", part.AdProduct,
					part.Marketplace.Country, part.Marketplace.ID, adlens.FormatCount(len(names), "campaign"), joinFew(names))
			}
		}
		return nil
	})
	return "no listed campaign is known to be left out of the platform's reports", nil
}
