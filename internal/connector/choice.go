package connector

import (
	"fmt"
	"slices"
	"strings"

	"adlens"
	"adlens/internal/platform"
	"adlens/internal/platform/api"
)

// SeveralAdvertisers is the error of a login whose profiles are of more than one
// advertiser, as an agency's are, where none of them was chosen.
type SeveralAdvertisers struct {
	Found []platform.Profile // all that the platform lists
}

func (e *SeveralAdvertisers) Error() string {
	return "the profiles found are of more than one advertiser, and none was chosen: nothing was taken or changed"
}

// isOneAdvertiser reports whether profiles are of one advertiser: of one seller
// id, or of vendors in countries of which none occurs twice, since the id of a
// vendor is another one in each country.
func isOneAdvertiser(profiles []platform.Profile) bool {
	for i, p := range profiles {
		for _, other := range profiles[:i] {
			if p.Vendor != other.Vendor || p.Vendor && p.Country == other.Country || !p.Vendor && (p.Advertiser == "" || p.Advertiser != other.Advertiser) {
				return false
			}
		}
	}
	return true
}

// chooseProfiles returns the profiles that were chosen of those found. A choice
// of what was not found is an error that names it.
func chooseProfiles(found []platform.Profile, choice adlens.Choice) (chosen []platform.Profile, err error) {
	if choice.IsNone() && !isOneAdvertiser(found) {
		return nil, &SeveralAdvertisers{found}
	}
	var ids, countries []string
	for _, p := range found {
		ids, countries = append(ids, p.ID), append(countries, p.Country)
	}
	if unknown := without(choice.Profiles, ids); len(unknown) > 0 {
		return nil, fmt.Errorf("profile %s is not among those that the platform lists for these credentials in this region, which are %s", strings.Join(unknown, ", "), describeProfiles(found))
	}
	if unknown := without(choice.Countries, countries); len(unknown) > 0 {
		return nil, fmt.Errorf("no profile of %s is among those that the platform lists for these credentials in this region, which are %s", strings.Join(unknown, ", "), describeProfiles(found))
	}
	for _, p := range found {
		if choice.Has(p.ID, p.Country) {
			chosen = append(chosen, p)
		}
	}
	return chosen, nil
}

// without returns what of some texts is not among others.
func without(all, others []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(text string) bool { return slices.Contains(others, text) })
}

// describeProfiles names profiles in an error.
func describeProfiles(all []platform.Profile) string {
	texts := make([]string, len(all))
	for i, p := range all {
		texts[i] = p.ID + " (" + p.Country + ")"
	}
	return adlens.JoinFew(texts, 50, ", ")
}

// splitListed divides what the platform lists now for a connection into profiles
// that are taken and those that are not, because they may be of another advertiser.
// What was not chosen, or belongs to another connection, is neither. A newly listed
// profile is taken where it is clearly of an advertiser that the connection has; held are
// the account's, of which some may not be listed for a while.
func splitListed(c adlens.Connection, others []adlens.Connection, listed, held []platform.Profile) (taken, untaken []platform.Profile) {
	var fresh []platform.Profile
	for _, p := range listed {
		_, elsewhere := ownerOf(others, p.ID)
		switch {
		case slices.Contains(c.Profiles, p.ID):
			taken = append(taken, p)
		case !elsewhere && c.Choice.Has(p.ID, p.Country):
			fresh = append(fresh, p)
		}
	}
	if len(c.Profiles) == 0 && isOneAdvertiser(fresh) {
		return fresh, nil
	}
	before, known := taken, slices.Clone(listed)
	for _, p := range held {
		if !slices.Contains(idsOf(listed), p.ID) {
			known = append(known, p)
		}
	}
	// Whose the new ones are cannot be told while one that waits, perhaps another vendor's, is
	// not listed.
	isGap := len(without(c.Untaken, idsOf(listed))) > 0
	for _, p := range fresh {
		if isOfSameAdvertiser(p, before, known) && !(p.Vendor && (isGap || slices.Contains(c.Untaken, p.ID))) {
			taken = append(taken, p)
		} else {
			untaken = append(untaken, p)
		}
	}
	return taken, untaken
}

// untakenOf are the profiles of a connection that wait until they are chosen: those that are
// not taken now, and of those before, the ones that are not listed for a while.
func untakenOf(before adlens.Connection, untaken, listed []platform.Profile) []string {
	return slices.Concat(idsOf(untaken), without(before.Untaken, idsOf(listed)))
}

// isOfSameAdvertiser reports whether a profile is of an advertiser of some others.
// Of vendors that can be told only where all that are known are of one; one of which that
// could not be told once may be of another one, whatever is listed now.
func isOfSameAdvertiser(p platform.Profile, others, known []platform.Profile) bool {
	ofKind := func(all []platform.Profile) []platform.Profile {
		return slices.DeleteFunc(slices.Clone(all), func(o platform.Profile) bool { return o.Vendor != p.Vendor })
	}
	if p.Vendor {
		return len(ofKind(others)) > 0 && isOneAdvertiser(ofKind(known))
	}
	return p.Advertiser != "" && slices.ContainsFunc(ofKind(others), func(o platform.Profile) bool { return o.Advertiser == p.Advertiser })
}

// WithProfiles returns the connections of an account, each with the profiles that
// belong to it. One that was made before connections had profiles has those of its
// region that are held and belong to no other.
func WithProfiles(connections []adlens.Connection, held []platform.Profile) []adlens.Connection {
	all := slices.Clone(connections)
	for i, c := range all {
		if len(c.Profiles) > 0 {
			continue
		}
		for _, p := range held {
			if _, owned := ownerOf(connections, p.ID); !owned && isOfRegion(p, c.Region) {
				all[i].Profiles = append(all[i].Profiles, p.ID)
			}
		}
	}
	return all
}

// isOfRegion reports whether a profile may be listed in a region. One of a country
// that the platform opened since may be of any.
func isOfRegion(p platform.Profile, region string) bool {
	known, ok := api.RegionOf(p.Country)
	return !ok || string(known) == region
}

// ownerOf returns the connection that a profile belongs to.
func ownerOf(connections []adlens.Connection, profileID string) (adlens.Connection, bool) {
	i := slices.IndexFunc(connections, func(c adlens.Connection) bool { return slices.Contains(c.Profiles, profileID) })
	if i < 0 {
		return adlens.Connection{}, false
	}
	return connections[i], true
}

// Abandoned returns the held profiles that are refreshed no more: those that belong
// to no connection, in a region that the account has, or had, a connection of, or
// whose figures were refreshed once.
func Abandoned(connections []adlens.Connection, held []platform.Profile, refreshed []adlens.Refreshed) (all []platform.Profile) {
	live := WithProfiles(slices.DeleteFunc(slices.Clone(connections), func(c adlens.Connection) bool { return c.Removed }), held)
	for _, p := range held {
		_, owned := ownerOf(live, p.ID)
		once := slices.ContainsFunc(connections, func(c adlens.Connection) bool { return isOfRegion(p, c.Region) }) ||
			slices.ContainsFunc(refreshed, func(r adlens.Refreshed) bool { return r.MarketplaceID == p.ID })
		if !owned && once {
			all = append(all, p)
		}
	}
	return all
}

func idsOf(profiles []platform.Profile) []string {
	ids := make([]string, len(profiles))
	for i, p := range profiles {
		ids[i] = p.ID
	}
	return ids
}
