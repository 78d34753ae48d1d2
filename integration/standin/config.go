package standin

import "time"

// What a Platform knows its client by where Config names nothing else.
const (
	DefaultClientID     = "amzn1.application-oa2-client.5ca1ab1e"
	DefaultClientSecret = "standin-secret"
	DefaultRefreshToken = "Atzr|standin-refresh"
)

// Config is how a Platform begins. The zero value is a working one without
// profiles; most of it can be changed later by methods of Platform.
type Config struct {
	// Region is whose host URL names; NA where empty.
	Region Region
	// ClientID and ClientSecret are the registered application's.
	ClientID, ClientSecret string
	// Grants are the consents given to it; none stands for one of
	// DefaultRefreshToken that sees every profile.
	Grants []Grant

	Profiles []Profile
	Facts    []Fact
	Entities Entities

	Token  TokenPlan
	Report JobPlan
	Export ExportPlan
	Rules  ReportRules
	Lists  ListPlan

	// Now is the platform's clock; time.Now where nil.
	Now func() time.Time
}

// Grant is one customer's consent: a refresh token and the profiles that the
// customer may see. No profiles means all of them.
type Grant struct {
	RefreshToken string
	Profiles     []int64
}

func (g Grant) seesProfile(profile int64) bool {
	if g.Profiles == nil {
		return true
	}
	for _, id := range g.Profiles {
		if id == profile {
			return true
		}
	}
	return false
}

func (c Config) withDefaults() Config {
	if c.Region == "" {
		c.Region = NA
	}
	if c.ClientID == "" {
		c.ClientID = DefaultClientID
	}
	if c.ClientSecret == "" {
		c.ClientSecret = DefaultClientSecret
	}
	if c.Grants == nil {
		c.Grants = []Grant{{RefreshToken: DefaultRefreshToken}}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Token = c.Token.withDefaults()
	return c
}
