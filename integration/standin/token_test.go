package standin_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"adlens/integration/standin"
)

func TestRefreshTokenBuysAccessToken(t *testing.T) {
	p := start(t, standin.Config{})
	got := askToken(t, p, nil).object(t)
	if !strings.HasPrefix(got["access_token"].(string), "Atza|") || got["refresh_token"] != standin.DefaultRefreshToken ||
		got["token_type"] != "bearer" || got["expires_in"].(interface{ String() string }).String() != "3600" {
		t.Errorf("got %v", got)
	}
	if p.Refreshes() != 1 || p.Calls(standin.Token) != 1 {
		t.Errorf("%d refreshes, %d calls", p.Refreshes(), p.Calls(standin.Token))
	}
}

func TestTokenRequestIsRefusedWithItsReason(t *testing.T) {
	p := start(t, standin.Config{})
	for _, c := range []struct {
		field, value string
		status       int
		code         string
	}{
		{"client_secret", "other", http.StatusUnauthorized, "invalid_client"},
		{"client_id", "other", http.StatusUnauthorized, "invalid_client"},
		{"refresh_token", "Atzr|unknown", http.StatusBadRequest, "invalid_grant"},
		{"refresh_token", "", http.StatusBadRequest, "invalid_request"},
		{"grant_type", "password", http.StatusBadRequest, "unsupported_grant_type"},
	} {
		got := askToken(t, p, map[string]string{c.field: c.value})
		if fault := got.object(t); got.status != c.status || fault["error"] != c.code || fault["error_description"] == "" {
			t.Errorf("%s=%s: got %d %v", c.field, c.value, got.status, fault)
		}
	}
	if p.Refreshes() != 0 {
		t.Error("a refused request counts as a refresh")
	}
}

func TestTokenRequestMustBeForm(t *testing.T) {
	p := start(t, standin.Config{})
	request, _ := http.NewRequest(http.MethodPost, p.TokenURL(), strings.NewReader(`{"client_secret":"s"}`))
	request.Header.Set("Content-Type", "application/json")
	got, err := send(request)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, got, http.StatusBadRequest, "invalid_request")
	if body := p.Recorded(standin.Token)[0].Body; body != standin.Redacted {
		t.Errorf("recorded %s", body)
	}
}

func TestAccessTokenExpires(t *testing.T) {
	now := noon
	c := open(t, standin.Config{Token: standin.TokenPlan{Life: time.Minute}, Now: func() time.Time { return now }})
	now = noon.Add(time.Minute - 1)
	expect(t, c.do(http.MethodGet, "/v2/profiles", ""), http.StatusOK, "[]")
	now = noon.Add(time.Minute)
	expect(t, c.do(http.MethodGet, "/v2/profiles", ""), http.StatusUnauthorized, `{"message":"Unauthorized exception while handling 3P Request: Invalid token"}`)
	c.signIn()
	expect(t, c.do(http.MethodGet, "/v2/profiles", ""), http.StatusOK, "[]")
	c.p.ExpireTokens()
	expect(t, c.do(http.MethodGet, "/v2/profiles", ""), http.StatusUnauthorized, "Invalid token")
}

func TestClaimedLifeMayDifferFromTrueOne(t *testing.T) {
	p := start(t, standin.Config{Token: standin.TokenPlan{Life: time.Millisecond, SaysLife: time.Hour}})
	expect(t, askToken(t, p, nil), http.StatusOK, `"expires_in":3600`)
}

func TestRevokedGrantIsRefusedEverywhere(t *testing.T) {
	c := open(t, standin.Config{})
	c.p.Revoke(standin.DefaultRefreshToken)
	expect(t, c.do(http.MethodGet, "/v2/profiles", ""), http.StatusUnauthorized, "Invalid token")
	expect(t, askToken(t, c.p, nil), http.StatusBadRequest, "invalid_grant")
	c.p.SetGrant(standin.Grant{RefreshToken: standin.DefaultRefreshToken})
	expect(t, askToken(t, c.p, nil), http.StatusOK, "Atza|")
}

func TestChangedSecretRefusesOldOne(t *testing.T) {
	p := start(t, standin.Config{})
	p.SetClientSecret("new")
	expect(t, askToken(t, p, nil), http.StatusUnauthorized, "invalid_client")
	expect(t, askToken(t, p, map[string]string{"client_secret": "new"}), http.StatusOK, "Atza|")
}

func TestStatusesOfTokenRefusalsAreConfigurable(t *testing.T) {
	p := start(t, standin.Config{Token: standin.TokenPlan{InvalidClientStatus: 400, InvalidGrantStatus: 401}})
	expect(t, askToken(t, p, map[string]string{"client_secret": "x"}), 400, "invalid_client")
	expect(t, askToken(t, p, map[string]string{"refresh_token": "x"}), 401, "invalid_grant")
}
