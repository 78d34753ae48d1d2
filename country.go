package adlens

// Country is a country that the platform sells advertising in.
type Country struct {
	Code string // the platform's code: UK, not GB
	Name string // English
}

// Countries lists the platform's countries by code.
var Countries = []Country{
	{"AE", "United Arab Emirates"}, {"AU", "Australia"}, {"BE", "Belgium"},
	{"BR", "Brazil"}, {"CA", "Canada"}, {"DE", "Germany"}, {"EG", "Egypt"},
	{"ES", "Spain"}, {"FR", "France"}, {"IE", "Ireland"}, {"IN", "India"},
	{"IT", "Italy"}, {"JP", "Japan"}, {"MX", "Mexico"}, {"NL", "Netherlands"},
	{"PL", "Poland"}, {"SA", "Saudi Arabia"}, {"SE", "Sweden"}, {"SG", "Singapore"},
	{"TR", "Turkey"}, {"UK", "United Kingdom"}, {"US", "United States"}, {"ZA", "South Africa"},
}

// CanonicalCountry returns the platform's spelling of an upper-case country
// code: some of its own services, and the rest of the world, write GB for UK.
func CanonicalCountry(code string) string {
	if code == "GB" {
		return "UK"
	}
	return code
}

// CountryName returns the English name of a canonical country code, or the
// code itself for a country that the platform opened after this was written.
func CountryName(code string) string {
	for _, c := range Countries {
		if c.Code == code {
			return c.Name
		}
	}
	return code
}
