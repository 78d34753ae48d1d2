package connector

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"adlens/internal/platform/api"
)

// Addresses replace an address of the platform in tests: one for all regions, or
// one for some of them. The zero value replaces none.
type Addresses struct {
	all      string
	byRegion map[api.Region]string
}

// ParseAddresses reads an address, or some like NA=http://...,EU=http://...
func ParseAddresses(text string) (a Addresses, err error) {
	if before, _, ok := strings.Cut(text, "="); !ok || len(before) != len(api.NA) {
		return Addresses{all: text}, nil
	}
	a.byRegion = map[api.Region]string{}
	for _, one := range strings.Split(text, ",") {
		name, address, _ := strings.Cut(one, "=")
		region, err := api.ParseRegion(name)
		if err != nil || address == "" {
			return a, fmt.Errorf("%q: expected an address, or some like NA=http://127.0.0.1:1234,EU=http://127.0.0.1:1235", text)
		}
		a.byRegion[region] = address
	}
	return a, nil
}

// Of returns the address of a region; "" where it is not replaced.
func (a Addresses) Of(region api.Region) (string, error) {
	if a.byRegion == nil {
		return a.all, nil
	}
	address, ok := a.byRegion[region]
	if !ok {
		return "", fmt.Errorf("no address was given that replaces the platform's for region %s", region)
	}
	return address, nil
}

// regions returns those whose addresses can be told.
func (a Addresses) regions() iter.Seq[api.Region] {
	if a.byRegion == nil {
		return slices.Values([]api.Region{api.NA})
	}
	return maps.Keys(a.byRegion)
}
