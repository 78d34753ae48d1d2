package requests_test

import (
	"strings"
	"testing"

	"adlens/integration/house"
)

// TestOneShapeOfTheAuthorizationHeaderIsTaken writes the header in all the
// ways that a person or a program has. KEY is a good key.
func TestOneShapeOfTheAuthorizationHeaderIsTaken(t *testing.T) {
	t.Parallel()
	_, one := house.ShopWithData(t)
	var refused string
	for _, c := range []struct {
		name, header string
		status       int
	}{
		{"as documented", "Authorization: Bearer KEY", 200},
		{"the name in small letters", "authorization: Bearer KEY", 200},
		{"no space behind the colon", "Authorization:Bearer KEY", 200},
		{"spaces and a tab around the value, which are not part of it", "Authorization:  \tBearer KEY \t", 200},
		{"folded into a second line, which reads as a space", "Authorization: Bearer\r\n KEY", 200},
		{"no header", "X-Other: Bearer KEY", 401},
		{"a look-alike name", "Authorisation: Bearer KEY", 401},
		{"a proxy's header", "Proxy-Authorization: Bearer KEY", 401},
		{"a header of another service", "X-Api-Key: KEY", 401},
		{"a cookie", "Cookie: Authorization=Bearer KEY", 401},
		{"an empty header", "Authorization:", 401},
		{"the scheme alone", "Authorization: Bearer", 401},
		{"the key alone", "Authorization: KEY", 401},
		{"the scheme in small letters", "Authorization: bearer KEY", 401},
		{"the scheme in capitals", "Authorization: BEARER KEY", 401},
		{"another scheme", "Authorization: Basic KEY", 401},
		{"a token of another kind", "Authorization: Token KEY", 401},
		{"two spaces", "Authorization: Bearer  KEY", 401},
		{"a tab between", "Authorization: Bearer\tKEY", 401},
		{"a colon", "Authorization: Bearer: KEY", 401},
		{"an equals sign", "Authorization: Bearer=KEY", 401},
		{"quotes", `Authorization: Bearer "KEY"`, 401},
		{"brackets of a placeholder", "Authorization: Bearer <KEY>", 401},
		{"the scheme twice", "Authorization: Bearer Bearer KEY", 401},
		{"a comma and another key", "Authorization: Bearer KEY, Bearer KEY", 401},
		{"something behind", "Authorization: Bearer KEY x", 401},
		{"a semicolon behind", "Authorization: Bearer KEY;", 401},
		{"a percent sign", "Authorization: Bearer%20KEY", 401},
		{"the header twice", "Authorization: Bearer KEY\r\nAuthorization: Bearer KEY", 401},
		{"a second, empty header", "Authorization: Bearer KEY\r\nAuthorization:", 401},
		{"a wrong header first", "Authorization: Basic x\r\nAuthorization: Bearer KEY", 401},
		{"a no-break space", "Authorization: Bearer\u00a0KEY", 401},
		{"a zero-width space behind", "Authorization: Bearer KEY\u200b", 401},
		{"ten kilobytes", "Authorization: Bearer KEY" + strings.Repeat("a", 10_000), 401},
	} {
		t.Run(c.name, func(t *testing.T) {
			answers, _, err := one.Ask.Exchange(house.RawRequest(house.AccountPath, strings.ReplaceAll(c.header, "KEY", one.Ask.Key), "Connection: close"))
			house.Need(t, err)
			if len(answers) != 1 || answers[0].Status != c.status {
				t.Fatalf("want %d, got %v", c.status, answers)
			}
			if c.status == 200 {
				return
			}
			a := answers[0]
			checkChallenge(t, c.name, a)
			code := problemCode(a)
			p := house.ProblemOf(t, a, 401, code)
			missing := strings.HasPrefix(c.header, "X-") || !strings.HasPrefix(c.header, "Authorization:")
			if want := map[bool]string{true: "missing_key", false: "invalid_key"}[missing]; code != want {
				t.Errorf("want code %s, got %s", want, code)
			}
			if said := p.Type + p.Title + p.Detail; code == "invalid_key" {
				if refused == "" {
					refused = said
				}
				if said != refused {
					t.Errorf("told apart from other wrong keys: %s", a.Body)
				}
			}
		})
	}
}
