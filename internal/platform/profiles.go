package platform

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"

	"adlens"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxProfiles bounds the profiles file; the platform lists 5,000 at most.
const maxProfiles = 64 << 20

// Profile is an advertiser's presence in one marketplace.
type Profile struct {
	ID       string
	Country  string // canonical: UK, not GB
	Currency string // ISO 4217
	TimeZone string
	Vendor   bool
	Name     string
	// Advertiser is accountInfo.id: a seller's id, the same in each country, or a
	// vendor's, another one in each. It is known of what the platform lists, and
	// not of profiles that are held.
	Advertiser string
}

type profileObject struct {
	ProfileID    ID     `json:"profileId"`
	CountryCode  string `json:"countryCode"`
	CurrencyCode string `json:"currencyCode"`
	TimeZone     string `json:"timezone"`
	AccountInfo  struct {
		ID   ID     `json:"id"`
		Type string `json:"type"`
		Name string `json:"name"`
	} `json:"accountInfo"`
}

var (
	countryForm  = regexp.MustCompile(`^[A-Z]{2}$`)
	currencyForm = regexp.MustCompile(`^[A-Z]{3}$`)
	zoneForm     = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_+/-]{1,63}$`)
	idForm       = regexp.MustCompile(`^[0-9A-Za-z_-]{1,64}$`)
)

// DecodeProfiles reads the platform's answer to GET /v2/profiles. Profiles of
// other types than seller and vendor have no advertising of their own; they
// are returned as notices.
func DecodeProfiles(r io.Reader) (profiles []Profile, notices []string, err error) {
	profiles, faults, notices, err := DecodeListing(r)
	for _, p := range profiles {
		err = errors.Join(err, faults[p.ID])
		delete(faults, p.ID)
	}
	return profiles, notices, err
}

// DecodeListing is DecodeProfiles for a reader that needs some of the profiles alone:
// what is wrong with a profile is in faults, by its id.
func DecodeListing(r io.Reader) (profiles []Profile, faults map[string]error, notices []string, err error) {
	var rows []jsontext.Value
	if err := decodeObject(r, maxProfiles, &rows); err != nil {
		return nil, nil, nil, err
	}
	if rows == nil {
		return nil, nil, nil, &Fault{Value: "null", Expected: "a JSON array of profiles"}
	}
	seen := map[string]int{}
	faults = map[string]error{}
	var unnamed checker
	for i, raw := range rows {
		var o profileObject
		if err := Decode(raw, &o, i+1); err != nil {
			return nil, nil, nil, err
		}
		if kind := o.AccountInfo.Type; kind != "seller" && kind != "vendor" {
			notices = append(notices, fmt.Sprintf("profile %s is skipped: its type is %q, not seller or vendor", o.ProfileID, kind))
			continue
		}
		unnamed.checkRowValue(i+1, idForm.MatchString(string(o.ProfileID)), "profileId", string(o.ProfileID), "an id")
		var c checker
		c.checkProfile(i+1, o)
		if first, twice := seen[string(o.ProfileID)]; twice {
			c.checkRowValue(i+1, false, "profileId", string(o.ProfileID), fmt.Sprintf("an id that is not that of row %d already", first))
		}
		seen[string(o.ProfileID)] = i + 1
		faults[string(o.ProfileID)] = errors.Join(faults[string(o.ProfileID)], errors.Join(c.faults...))
		profiles = append(profiles, Profile{
			ID: string(o.ProfileID), Country: adlens.CanonicalCountry(o.CountryCode), Currency: o.CurrencyCode,
			TimeZone: o.TimeZone, Vendor: o.AccountInfo.Type == "vendor", Name: o.AccountInfo.Name, Advertiser: string(o.AccountInfo.ID),
		})
	}
	return profiles, faults, notices, errors.Join(unnamed.faults...)
}

// NarrowProfiles returns the platform's answer to GET /v2/profiles with some of its
// profiles alone, each as it came.
func NarrowProfiles(raw []byte, keep func(id string) bool) ([]byte, error) {
	var rows, kept []jsontext.Value
	if err := decodeObject(bytes.NewReader(raw), maxProfiles, &rows); err != nil {
		return nil, err
	}
	for i, row := range rows {
		var o struct {
			ProfileID ID `json:"profileId"`
		}
		if err := Decode(row, &o, i+1); err != nil {
			return nil, err
		}
		if keep(string(o.ProfileID)) {
			kept = append(kept, row)
		}
	}
	return json.Marshal(kept)
}

// MergeProfiles returns the profiles of two answers to GET /v2/profiles, each as it came:
// those of the later one in place of their earlier namesakes.
func MergeProfiles(earlier, later []byte) ([]byte, error) {
	profiles, _, _, err := DecodeListing(bytes.NewReader(later))
	if err != nil {
		return nil, err
	}
	stays := func(id string) bool {
		return !slices.ContainsFunc(profiles, func(p Profile) bool { return p.ID == id })
	}
	var merged, rows []jsontext.Value
	if earlier, err = NarrowProfiles(earlier, stays); err == nil {
		err = errors.Join(json.Unmarshal(earlier, &merged), json.Unmarshal(later, &rows))
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(append(merged, rows...))
}

func (c *checker) checkProfile(row int, o profileObject) {
	c.checkRowValue(row, countryForm.MatchString(o.CountryCode), "countryCode", o.CountryCode, "a country's code of two capital letters")
	c.checkRowValue(row, currencyForm.MatchString(o.CurrencyCode), "currencyCode", o.CurrencyCode, "a currency's code of three capital letters")
	c.checkRowValue(row, zoneForm.MatchString(o.TimeZone), "timezone", o.TimeZone, "a time zone's name like Europe/London")
}

func (c *checker) checkRowValue(row int, ok bool, field, value, expected string) {
	if c.checkValue(ok, field, value, expected) {
		return
	}
	var f *Fault
	if errors.As(c.faults[len(c.faults)-1], &f) {
		f.Row = row
	}
}
