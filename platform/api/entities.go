package api

import (
	"context"

	"adlens"
	"adlens/platform"
)

// Campaigns lists all campaigns of a profile and ad product, archived ones
// included, in the platform's order.
func (c *Client) Campaigns(ctx context.Context, profileID string, p adlens.AdProduct) ([]platform.Campaign, error) {
	return listOf(ctx, c, profileID, p, campaigns, (*rowReader).campaign, func(x platform.Campaign) string { return x.ID })
}

// AdGroups lists all ad groups of a profile and ad product, archived ones
// included, in the platform's order.
func (c *Client) AdGroups(ctx context.Context, profileID string, p adlens.AdProduct) ([]platform.AdGroup, error) {
	return listOf(ctx, c, profileID, p, adGroups, (*rowReader).adGroup, func(x platform.AdGroup) string { return x.ID })
}

// Ads lists all ads of a profile and ad product, archived ones included, in
// the platform's order. Ads of old campaigns of Sponsored Brands have no id.
func (c *Client) Ads(ctx context.Context, profileID string, p adlens.AdProduct) ([]platform.Ad, error) {
	return listOf(ctx, c, profileID, p, ads, (*rowReader).ad, func(x platform.Ad) string { return x.ID })
}
