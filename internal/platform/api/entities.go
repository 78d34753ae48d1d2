package api

import (
	"context"

	"adlens"
	"adlens/internal/platform"
)

// List is a whole list of the platform, archived rows included, in the
// platform's order.
type List[T any] struct {
	Rows []T
	// Stated tells that the platform said how many rows there are, and that
	// they are that many. Lists of Sponsored Display have no such total.
	Stated bool
}

// Campaigns lists all campaigns of a profile and ad product.
func (c *Client) Campaigns(ctx context.Context, profileID string, p adlens.AdProduct) (List[platform.Campaign], error) {
	return listOf(ctx, c, profileID, p, campaigns, (*rowReader).readCampaign, func(x platform.Campaign) string { return x.ID })
}

// AdGroups lists all ad groups of a profile and ad product.
func (c *Client) AdGroups(ctx context.Context, profileID string, p adlens.AdProduct) (List[platform.AdGroup], error) {
	return listOf(ctx, c, profileID, p, adGroups, (*rowReader).adGroup, func(x platform.AdGroup) string { return x.ID })
}

// Ads lists all ads of a profile and ad product. Ads of old campaigns of
// Sponsored Brands have no id.
func (c *Client) Ads(ctx context.Context, profileID string, p adlens.AdProduct) (List[platform.Ad], error) {
	return listOf(ctx, c, profileID, p, ads, (*rowReader).readAd, func(x platform.Ad) string { return x.ID })
}
