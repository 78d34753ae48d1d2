package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var ctx = context.Background()

func TestRegionsHaveTheirAddresses(t *testing.T) {
	for text, base := range map[string]string{
		"NA": "https://advertising-api.amazon.com", "eu": "https://advertising-api-eu.amazon.com", "FE": "https://advertising-api-fe.amazon.com",
	} {
		region, err := ParseRegion(text)
		if found := addresses[region]; err != nil || found.base != base || !strings.HasSuffix(found.token, "/auth/o2/token") {
			t.Errorf("%s: %v %v", text, err, found)
		}
	}
	if _, err := ParseRegion("US"); !errors.Is(err, Invalid) || !strings.Contains(err.Error(), "NA, EU or FE") {
		t.Errorf("US: %v", err)
	}
}

func TestABadConfigurationIsRefused(t *testing.T) {
	good := Config{Region: NA, ClientID: "id", ClientSecret: NewSecret(canarySecret), RefreshToken: NewSecret(canaryRefresh)}
	if _, err := New(good); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Config){
		"no region":             func(c *Config) { c.Region = "" },
		"unknown region":        func(c *Config) { c.Region = "XX" },
		"no client id":          func(c *Config) { c.ClientID = "" },
		"no secret":             func(c *Config) { c.ClientSecret = Secret{} },
		"secret with newline":   func(c *Config) { c.ClientSecret = NewSecret(canarySecret + "\n") },
		"no refresh token":      func(c *Config) { c.RefreshToken = NewSecret("") },
		"http elsewhere":        func(c *Config) { c.BaseURL = "http://example.com" },
		"token http elsewhere":  func(c *Config) { c.TokenURL = "http://10.0.0.1/token" },
		"address with password": func(c *Config) { c.BaseURL = "https://u:" + canarySecret + "@example.com" },
		"no address":            func(c *Config) { c.BaseURL = "platform" },
		"a file":                func(c *Config) { c.BaseURL = "file:///etc/passwd" },
	} {
		bad := good
		change(&bad)
		_, err := New(bad)
		if !errors.Is(err, Invalid) {
			t.Errorf("%s: %v", name, err)
		} else {
			noSecrets(t, err.Error())
		}
	}
}

func TestEveryCallCarriesTheHeaders(t *testing.T) {
	var got http.Header
	r := newRig(t, func(w http.ResponseWriter, q *http.Request) {
		got = q.Header
		_, _ = io.WriteString(w, `[{"profileId":1}]`)
	})
	raw, err := r.client.Profiles(ctx)
	r.succeeds(err)
	if string(raw) != `[{"profileId":1}]` {
		t.Errorf("profiles are %s", raw)
	}
	for name, want := range map[string]string{
		"Authorization": "Bearer " + r.bearer, "Amazon-Advertising-Api-Clientid": "amzn1.application-oa2-client.0",
		"Amazon-Advertising-Api-Scope": "", "Accept": "application/json",
	} {
		if got.Get(name) != want {
			t.Errorf("%s is %q, expected %q", name, got.Get(name), want)
		}
	}
	if want := "GET /v2/profiles?accessLevel=view&profileTypeFilter=seller%2Cvendor"; r.calls[0] != want {
		t.Errorf("asked %s, expected %s", r.calls[0], want)
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	var foreign atomic.Int32
	other := newRig(t, func(http.ResponseWriter, *http.Request) { foreign.Add(1) })
	for _, status := range []int{301, 302, 303, 307, 308} {
		r := newRig(t, say(status, "", "Location", other.server.URL+"/?X-Amz-Signature="+canaryLink))
		_, err := r.client.Profiles(ctx)
		r.fails(err, Refused, "redirects to 127.0.0.1")
		_, err = r.client.CreateReport(ctx, "1", goodRequest())
		r.fails(err, Refused, "redirects to 127.0.0.1")
	}
	r := newRig(t, say(200, `[]`))
	r.onToken = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", other.server.URL+"/token")
		w.WriteHeader(307)
	}
	_, err := r.client.Profiles(ctx)
	r.fails(err, Refused, "redirects")
	if foreign.Load() != 0 || other.tokens != 0 {
		t.Error("a redirect was followed")
	}
}

func TestNoMoreThanTwoExchangesRunAtATime(t *testing.T) {
	var running, most atomic.Int32
	r := newRig(t, func(w http.ResponseWriter, _ *http.Request) {
		now := running.Add(1)
		defer running.Add(-1)
		for {
			seen := most.Load()
			if now <= seen || most.CompareAndSwap(seen, now) {
				break
			}
		}
		time.Sleep(2 * time.Millisecond)
		_, _ = io.WriteString(w, `[]`)
	})
	var all sync.WaitGroup
	for range 12 {
		all.Go(func() {
			if _, err := r.client.Profiles(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if most.Load() > 2 {
		t.Errorf("%d exchanges ran at a time", most.Load())
	}
	if r.tokens != 1 {
		t.Errorf("%d tokens were requested, expected 1", r.tokens)
	}
}
