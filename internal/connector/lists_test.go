package connector

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/integration/standin"
	"adlens/internal/platform"
	"adlens/internal/platform/api"
	"adlens/internal/secret"
	"adlens/loader"

	"github.com/google/go-cmp/cmp"
)

// noting is a loader that notes which lists it was given.
type noting struct {
	taken
	currency string
	names    []loader.ListName
	refused  []adlens.AdProduct
	holds    bool // lists of all ad products
}

func (l *noting) ReplaceLists(_ context.Context, _ string, read loader.Lists) error {
	if l.holds && len(read.Refused) > 0 {
		return &loader.LeftOut{AdProduct: read.Refused[0]}
	}
	l.currency, l.names, l.refused = read.Currency, nil, read.Refused
	for _, name := range loader.ListNames() { // in their order
		for _, one := range read.Read {
			if one.ListName == name {
				l.names = append(l.names, name)
			}
		}
	}
	return nil
}

// connectedTo returns a connector of one account to a platform.
func connectedTo(t *testing.T, p *standin.Platform, take Loader) (*Connector, *noted) {
	t.Helper()
	key, err := secret.ReadOrMakeKey(filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	store := &readable{noted: newNoted("one", 1<<30)}
	if l, ok := take.(*noting); ok {
		l.taken = taken{store.noted}
	}
	c := New(Config{Store: store, Loader: take, Locks: store.memory, BaseURL: Addresses{all: p.URL()}, TokenURL: Addresses{all: p.TokenURL()},
		Key: func() (secret.Key, error) { return key, nil }, Notice: func(string, string) {}})
	if _, err := c.Connect(t.Context(), adlens.Connection{Account: "one", Name: "NA", Region: "NA", ClientID: standin.DefaultClientID}, Secrets{standin.DefaultClientSecret, standin.DefaultRefreshToken}); err != nil {
		t.Fatal(err)
	}
	return c, store.noted
}

// readable is a store whose attempts are known again.
type readable struct{ *noted }

func (r *readable) Attempt(ctx context.Context, name string) (adlens.Attempt, bool, error) {
	return r.memory.Attempt(ctx, name)
}

// A list that fails rests for itself, longer after each failure in a row, and is
// tried again; the others are read each time.
func TestAListThatFailsRestsForItself(t *testing.T) {
	t.Parallel()
	p := standin.New(standin.Config{Profiles: []standin.Profile{{ID: 7, Country: "US"}}})
	defer p.Close()
	take := &noting{}
	c, store := connectedTo(t, p, take)
	heal := p.Inject(standin.Fault{On: standin.SBAdGroups, Times: -1, Do: standin.Error(403, standin.Details, "not now")})
	broken := loader.ListName{Entity: platform.AdGroups, AdProduct: adlens.SponsoredBrands}
	work := ListWork("one", "7", broken)
	var others []loader.ListName
	for _, name := range loader.ListNames() {
		if name != broken {
			others = append(others, name)
		}
	}
	calls := 0
	for i, step := range []struct {
		age   time.Duration // since its last failure
		tried bool
	}{{0, true}, {listLife/2 - time.Minute, false}, {listLife - time.Minute, true}, {listLife - time.Minute, false}, {listLife + time.Minute, true},
		{2*listLife + time.Minute, true}, {4*listLife + time.Minute, true}, {8*listLife + time.Minute, true}, {longestRest - time.Minute, false}, {longestRest + time.Minute, true}, {longestRest + time.Minute, true}} {
		a := store.attempts[work]
		a.began = time.Now().Add(-step.age)
		store.attempts[work] = a
		err := c.ReadLists(t.Context(), "one", "7")
		if diff := cmp.Diff(others, take.names); diff != "" {
			t.Fatalf("step %d: lists that were read (-want +got):\n%s", i, diff)
		}
		var unread *UnreadLists
		if failed := errors.As(err, &unread); failed != step.tried || failed && !strings.Contains(err.Error(), "not now") {
			t.Errorf("step %d: the error is %v", i, err)
		}
		if step.tried {
			calls++
		}
		if n := p.Calls(standin.SBAdGroups); n != calls || store.attempts[work].failures != calls {
			t.Errorf("step %d: %d calls and %d failures are noted, want %d", i, n, store.attempts[work].failures, calls)
		}
	}
	heal()
	a := store.attempts[work]
	a.began = time.Now().Add(-longestRest)
	store.attempts[work] = a
	if err := c.ReadLists(t.Context(), "one", "7"); err != nil || len(take.names) != len(others)+1 || store.attempts[work].failures != 0 {
		t.Errorf("once it can be read: %v, %d lists, %d failures", err, len(take.names), store.attempts[work].failures)
	}
	if len(store.attempts) != 1 {
		t.Errorf("attempts are noted of lists that did not fail: %v", store.attempts)
	}
}

// A person who pulls waits for the lists: for those that another process reads too, and
// what failed a moment ago is tried at once. What was read a moment ago is not.
func TestAPullReadsListsThatRest(t *testing.T) {
	t.Parallel()
	p := standin.New(standin.Config{Profiles: []standin.Profile{{ID: 7, Country: "US"}}})
	defer p.Close()
	take := &noting{}
	c, store := connectedTo(t, p, take)
	broken := loader.ListName{Entity: platform.Campaigns, AdProduct: adlens.SponsoredBrands}
	all, one := ListsWork("one", "7"), ListWork("one", "7", broken)
	profiles := []platform.Profile{{ID: "7"}}
	said := make(chan string, 10)
	c.Notice = func(_, text string) { said <- text }

	p.Inject(standin.Fault{On: standin.SBCampaigns, Times: 1, Do: standin.Error(403, standin.Details, "not now")})
	store.attempts[one] = attempt{time.Now(), 2}
	c.readListsOf(t.Context(), "one", profiles)
	if text := <-said; !strings.Contains(text, "not now") || !strings.Contains(text, "profile 7") {
		t.Errorf("the notice of a list that fails is %q", text)
	}
	if store.attempts[all].failures != 0 || store.attempts[one].failures != 2 { // a server rests no longer for it
		t.Errorf("noted is %v", store.attempts)
	}
	store.attempts[all] = attempt{time.Now(), 3} // as where a process was killed
	release, _, err := store.Try(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan bool)
	go func() {
		defer close(done)
		c.readListsOf(t.Context(), "one", profiles)
	}()
	if text := <-said; !strings.Contains(text, "another process") {
		t.Errorf("the notice of lists that another process reads is %q", text)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	<-done
	if len(take.names) != len(loader.ListNames()) || store.attempts[all].failures != 0 || store.attempts[one].failures != 0 {
		t.Errorf("read are %v, noted is %v", take.names, store.attempts)
	}
	calls := p.Calls(standin.SBCampaigns)
	c.readListsOf(t.Context(), "one", profiles)
	if n := p.Calls(standin.SBCampaigns); n != calls || len(said) > 0 {
		t.Errorf("lists that were just read are read again, %d times, or there are notices: %d", n-calls, len(said))
	}
}

// A reading of which nothing came is noted as one that failed, once, however often a
// person tries: the next one may begin at once, and a server rests no longer.
func TestAPullThatReadsNoListIsTriedAgain(t *testing.T) {
	t.Parallel()
	p := standin.New(standin.Config{Profiles: []standin.Profile{{ID: 7, Country: "US"}}})
	defer p.Close()
	c, store := connectedTo(t, p, &noting{})
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for i, one := range []struct {
		ctx     context.Context
		profile string
	}{{t.Context(), "8"}, {t.Context(), "8"}, {stopped, "7"}, {stopped, "7"}} {
		if err := c.readListsNow(one.ctx, "one", platform.Profile{ID: one.profile}); err == nil {
			t.Errorf("try %d: no error", i)
		}
		if n := store.attempts[ListsWork("one", one.profile)].failures; n != 1 {
			t.Errorf("try %d: %d failures are noted, want 1", i, n)
		}
	}
	if err := c.readListsNow(t.Context(), "one", platform.Profile{ID: "7"}); err != nil || store.attempts[ListsWork("one", "7")].failures != 0 {
		t.Errorf("once it can be read: %v, %v", err, store.attempts)
	}
}

// What the platform never gave a profile is no failure of a list.
func TestWhatThePlatformNeverGaveIsNoFailure(t *testing.T) {
	t.Parallel()
	p := standin.New(standin.Config{Profiles: []standin.Profile{{ID: 7, Country: "US", SubType: "KDP_AUTHOR"}}})
	defer p.Close()
	take := &noting{}
	c, store := connectedTo(t, p, take)
	if err := c.ReadLists(t.Context(), "one", "7"); err != nil || len(take.names) != 6 || len(store.attempts) != 0 {
		t.Errorf("%v; read were %v, noted %v", err, take.names, store.attempts)
	}
	if diff := cmp.Diff([]adlens.AdProduct{adlens.SponsoredBrands}, take.refused); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
	// It is one where such lists are held, which stay; all others are read.
	take.holds = true
	var unread *UnreadLists
	if err := c.ReadLists(t.Context(), "one", "7"); !errors.As(err, &unread) || len(take.names) != 6 || len(take.refused) != 0 || len(store.attempts) != 1 {
		t.Errorf("where some are held: %v; read were %v, refused %v, noted %v", err, take.names, take.refused, store.attempts)
	}
}

// A platform that does not take the credentials is asked for no further list.
func TestCredentialsThatAreRefusedAreNoFailureOfAList(t *testing.T) {
	t.Parallel()
	p := standin.New(standin.Config{Profiles: []standin.Profile{{ID: 7, Country: "US"}}})
	defer p.Close()
	take := &noting{}
	c, store := connectedTo(t, p, take)
	p.Revoke(standin.DefaultRefreshToken)
	c = New(c.Config) // which has no token yet
	var unread *UnreadLists
	if err := c.ReadLists(t.Context(), "one", "7"); err == nil || errors.As(err, &unread) || store.connection.Accepted || take.names != nil || len(store.attempts) != 0 {
		t.Errorf("%v; read were %v, noted %v, accepted %t", err, take.names, store.attempts, store.connection.Accepted)
	}
}

// Lists are read of a profile alone of which the platform says in which currency it is; a
// pull, which has just been told, does not look again.
func TestListsAreReadInTheCurrencyThatThePlatformLists(t *testing.T) {
	t.Parallel()
	p := standin.New(standin.Config{Profiles: []standin.Profile{{ID: 7, Country: "CA"}, {ID: 8, Country: "US"}}})
	defer p.Close()
	take := &noting{}
	c, _ := connectedTo(t, p, take)
	looks := p.Calls(standin.Profiles)
	if err := c.readListsNow(t.Context(), "one", platform.Profile{ID: "7", Currency: "EUR"}); err != nil || take.currency != "EUR" || p.Calls(standin.Profiles) != looks {
		t.Errorf("lists of a pull: %v, in %q, %d looks", err, take.currency, p.Calls(standin.Profiles)-looks)
	}
	if err := c.ReadLists(t.Context(), "one", "7"); err != nil || take.currency != "CAD" || p.Calls(standin.Profiles) != looks+1 {
		t.Errorf("lists: %v, in %q, %d looks", err, take.currency, p.Calls(standin.Profiles)-looks)
	}
	calls := p.Calls(standin.SPCampaigns)
	p.Change(7, func(one *standin.Profile) { one.Extra = map[string]any{"currencyCode": "dollars"} })
	if err := c.ReadLists(t.Context(), "one", "7"); err == nil || !strings.Contains(err.Error(), "profile 7 is left out: ") {
		t.Errorf("a profile without a sound currency: %v", err)
	}
	p.SetProfiles(standin.Profile{ID: 8, Country: "US"})
	if err := c.ReadLists(t.Context(), "one", "7"); err == nil || !strings.Contains(err.Error(), "no longer lists profile 7") {
		t.Errorf("a profile that is not listed: %v", err)
	}
	if n := p.Calls(standin.SPCampaigns); n != calls {
		t.Errorf("%d lists were read of them", n-calls)
	}
}

// A profile that is closed to the connection says nothing of what it has campaigns of.
func TestAClosedProfileIsNoneWithoutAnAdProduct(t *testing.T) {
	t.Parallel()
	name := loader.ListName{Entity: platform.Ads, AdProduct: adlens.SponsoredDisplay}
	for kind, refused := range map[api.Kind]bool{api.Refused: true, api.NotOffered: true, api.Closed: false} {
		r := &listReader{refused: map[adlens.AdProduct]error{}, failed: map[loader.ListName]error{}}
		err := &api.Error{Kind: kind}
		if r.keepList(name, loader.List{}, err) != refused || (r.refused[name.AdProduct] != nil) != refused || (r.failed[name] != nil) == refused {
			t.Errorf("%s: refused are %v, failed %v", kind, r.refused, r.failed)
		}
	}
}
