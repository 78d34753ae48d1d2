package connector

import (
	"slices"
	"strings"
	"testing"

	"adlens"
	"adlens/internal/platform"
)

// listed reads profiles like "1 US A1" and, of a vendor, "2 US ENTITY2 vendor".
func listed(texts ...string) (all []platform.Profile) {
	for _, text := range texts {
		fields := append(strings.Fields(text), "", "")
		all = append(all, platform.Profile{ID: fields[0], Country: fields[1], Advertiser: fields[2], Vendor: fields[3] == "vendor"})
	}
	return all
}

func TestOneAdvertiserIsASellerOrAVendorOfEachCountry(t *testing.T) {
	for _, c := range []struct {
		one      bool
		profiles []platform.Profile
	}{
		{true, listed("1 US A1")},
		{true, listed("1 US")}, // alone, it needs no id
		{true, listed("1 US A1", "2 CA A1", "3 US A1")},
		{false, listed("1 US A1", "2 CA A2")},
		{false, listed("1 US", "2 CA")},
		{true, listed("1 US E1 vendor", "2 CA E2 vendor")},
		{false, listed("1 US E1 vendor", "2 CA E2 vendor", "3 US E3 vendor")},
		{false, listed("1 US E1 vendor", "2 US E1 vendor")},
		{false, listed("1 US A1", "2 CA A1 vendor")},
	} {
		if got := isOneAdvertiser(c.profiles); got != c.one {
			t.Errorf("%v is one advertiser: %v, want %v", c.profiles, got, c.one)
		}
	}
}

func TestWhatIsListedIsDivided(t *testing.T) {
	other := adlens.Connection{Name: "other", Profiles: []string{"9"}}
	for name, c := range map[string]struct {
		connection     adlens.Connection
		listed         []platform.Profile
		taken, untaken string
		held           []platform.Profile // of the account
	}{
		"the same seller in another country":         {adlens.Connection{Profiles: []string{"1"}}, listed("1 US A1", "2 CA A1"), "1 2", "", nil},
		"another seller":                             {adlens.Connection{Profiles: []string{"1"}}, listed("1 US A1", "2 CA A2", "3 MX A1"), "1 3", "2", nil},
		"a vendor of another country":                {adlens.Connection{Profiles: []string{"1"}}, listed("1 US E1 vendor", "2 CA E2 vendor"), "1 2", "", nil},
		"vendors that cannot be told apart":          {adlens.Connection{Profiles: []string{"1"}}, listed("1 US E1 vendor", "2 CA E2 vendor", "3 US E3 vendor"), "1", "2 3", nil},
		"a vendor beside a seller":                   {adlens.Connection{Profiles: []string{"1"}}, listed("1 US A1", "2 CA E2 vendor"), "1", "2", nil},
		"a profile of another connection":            {adlens.Connection{Profiles: []string{"1"}}, listed("1 US A1", "9 CA A1"), "1", "", nil},
		"beyond chosen profiles":                     {adlens.Connection{Profiles: []string{"1"}, Choice: adlens.Choice{Profiles: []string{"1"}}}, listed("1 US A1", "2 CA A1"), "1", "", nil},
		"beyond chosen countries":                    {adlens.Connection{Profiles: []string{"1"}, Choice: adlens.Choice{Countries: []string{"US"}}}, listed("1 US A1", "2 CA A1", "3 US A1", "4 US A2"), "1 3", "4", nil},
		"the first is listed no more":                {adlens.Connection{Profiles: []string{"1"}}, listed("2 CA A1"), "", "2", nil},
		"nothing is known":                           {adlens.Connection{}, listed("1 US A1", "2 CA A1"), "1 2", "", nil},
		"nothing is known of several":                {adlens.Connection{}, listed("1 US A1", "2 CA A2"), "", "1 2", nil},
		"a vendor that was not taken":                {adlens.Connection{Profiles: []string{"1"}, Untaken: []string{"2", "3"}}, listed("1 US E1 vendor", "2 CA E2 vendor"), "1", "2", listed("1 US E1 vendor")},
		"a vendor while an own one is not listed":    {adlens.Connection{Profiles: []string{"1", "2"}}, listed("2 CA E2 vendor", "3 US E3 vendor"), "2", "3", listed("1 US E1 vendor", "2 CA E2 vendor")},
		"a vendor beside that of another connection": {adlens.Connection{Profiles: []string{"1"}}, listed("1 CA E1 vendor", "3 US E3 vendor"), "1", "3", listed("1 CA E1 vendor", "9 US E9 vendor")},
		"a vendor while one that waits is not":       {adlens.Connection{Profiles: []string{"1"}, Untaken: []string{"2"}}, listed("1 US E1 vendor", "3 CA E2 vendor"), "1", "3", listed("1 US E1 vendor")},
		"a seller while one that waits is not":       {adlens.Connection{Profiles: []string{"1"}, Untaken: []string{"2"}}, listed("1 US A1", "3 CA A1"), "1 3", "", nil},
		"a vendor of a third country":                {adlens.Connection{Profiles: []string{"1"}}, listed("1 CA E1 vendor", "3 MX E3 vendor"), "1 3", "", listed("1 CA E1 vendor", "9 US E9 vendor")},
	} {
		taken, untaken := splitListed(c.connection, []adlens.Connection{other}, c.listed, c.held)
		if got := strings.Join(idsOf(taken), " "); got != c.taken {
			t.Errorf("%s: taken are %q, want %q", name, got, c.taken)
		}
		if got := strings.Join(idsOf(untaken), " "); got != c.untaken {
			t.Errorf("%s: untaken are %q, want %q", name, got, c.untaken)
		}
	}
}

// What was not taken is remembered while the platform does not list it.
func TestWhatIsNotListedForAWhileWaitsToBeChosen(t *testing.T) {
	own, held := adlens.Connection{Profiles: []string{"1"}}, listed("1 US E1 vendor")
	for _, now := range [][]platform.Profile{
		listed("1 US E1 vendor", "2 CA E2 vendor", "3 US E3 vendor"),
		listed("1 US E1 vendor", "3 US E3 vendor"),
		listed("1 US E1 vendor"),
		listed("1 US E1 vendor", "2 CA E2 vendor"),
	} {
		taken, untaken := splitListed(own, nil, now, held)
		own.Untaken = untakenOf(own, untaken, now)
		if got := idsOf(taken); !slices.Equal(got, []string{"1"}) || len(own.Untaken) != 2 {
			t.Errorf("of %v taken are %v, and %v wait", idsOf(now), got, own.Untaken)
		}
	}
}

// A connection from before connections had profiles goes on with what is held in its
// region; later listings are compared with that.
func TestAConnectionOfAnEarlierVersionGoesOnWithWhatIsHeld(t *testing.T) {
	held := listed("1 US", "2 US", "3 UK", "4 ZZ", "9 CA")
	landed, other := adlens.Connection{Name: "NA", Region: "NA"}, adlens.Connection{Name: "other", Region: "NA", Profiles: []string{"9"}}
	all := WithProfiles([]adlens.Connection{landed, other}, held)
	if !slices.Equal(all[0].Profiles, []string{"1", "2", "4"}) || !slices.Equal(all[1].Profiles, []string{"9"}) {
		t.Errorf("they have %v and %v", all[0].Profiles, all[1].Profiles)
	}
	taken, untaken := splitListed(all[0], all[1:], listed("1 US A1", "2 US A2", "5 CA A3", "6 CA A1"), held)
	if got := idsOf(taken); !slices.Equal(got, []string{"1", "2", "6"}) || !slices.Equal(idsOf(untaken), []string{"5"}) {
		t.Errorf("taken are %v, untaken %v", got, idsOf(untaken))
	}
	left := idsOf(Abandoned([]adlens.Connection{landed, other}, held, []adlens.Refreshed{{MarketplaceID: "3"}}))
	if !slices.Equal(left, []string{"3"}) { // of a region whose connection another one replaced
		t.Errorf("refreshed no more are %v", left)
	}
	landed.Removed = true
	if left := idsOf(Abandoned([]adlens.Connection{landed, other}, held, nil)); !slices.Equal(left, []string{"1", "2", "4"}) {
		t.Errorf("after it was removed, refreshed no more are %v", left)
	}
}

func TestAddressesAreOneOrOneForEachRegion(t *testing.T) {
	for text, want := range map[string][2]string{
		"":                                     {"", ""},
		"http://127.0.0.1:1?a=b":               {"http://127.0.0.1:1?a=b", "http://127.0.0.1:1?a=b"},
		"NA=http://127.0.0.1:1,EU=http://h/x=": {"http://127.0.0.1:1", "http://h/x="},
	} {
		a, err := ParseAddresses(text)
		na, naErr := a.Of("NA")
		eu, euErr := a.Of("EU")
		if err != nil || naErr != nil || euErr != nil || na != want[0] || eu != want[1] {
			t.Errorf("%q: %q and %q, want %q: %v %v %v", text, na, eu, want, err, naErr, euErr)
		}
	}
	for _, text := range []string{"XX=http://h", "NA=", "NA=http://h,http://i"} {
		if _, err := ParseAddresses(text); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v", text, err)
		}
	}
	a, _ := ParseAddresses("EU=http://127.0.0.1:1")
	if _, err := a.Of("NA"); err == nil {
		t.Error("a region without an address would reach the platform itself")
	}
}
