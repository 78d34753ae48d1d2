package standin

// Region is one of the platform's three parts of the world.
type Region string

// The regions.
const (
	NA Region = "NA"
	EU Region = "EU"
	FE Region = "FE"
)

type country struct {
	region                      Region
	marketplace, currency, zone string
}

// The platform spells the United Kingdom UK, never GB.
var countries = map[string]country{
	"US": {NA, "ATVPDKIKX0DER", "USD", "America/Los_Angeles"},
	"CA": {NA, "A2EUQ1WTGCTBG2", "CAD", "America/Los_Angeles"},
	"MX": {NA, "A1AM78C64UM0Y8", "MXN", "America/Los_Angeles"},
	"BR": {NA, "A2Q3Y263D00KWC", "BRL", "America/Sao_Paulo"},
	"UK": {EU, "A1F83G8C2ARO7P", "GBP", "Europe/London"},
	"DE": {EU, "A1PA6795UKMFR9", "EUR", "Europe/Paris"},
	"FR": {EU, "A13V1IB3VIYZZH", "EUR", "Europe/Paris"},
	"IT": {EU, "APJ6JRA9NG5V4", "EUR", "Europe/Paris"},
	"ES": {EU, "A1RKKUPIHCS9HS", "EUR", "Europe/Paris"},
	"NL": {EU, "A1805IZSGTT6HS", "EUR", "Europe/Amsterdam"},
	"BE": {EU, "AMEN7PMS3EDWL", "EUR", "Europe/Brussels"},
	"IE": {EU, "A28R8C7NBKEWEA", "EUR", "Europe/Dublin"},
	"SE": {EU, "A2NODRKZP88ZB9", "SEK", "Europe/Stockholm"},
	"PL": {EU, "A1C3SOZRARQ6R3", "PLN", "Europe/Warsaw"},
	"TR": {EU, "A33AVAJ2PDY3EV", "TRY", "Europe/Istanbul"},
	"AE": {EU, "A2VIGQ35RCS4UG", "AED", "Asia/Dubai"},
	"SA": {EU, "A17E79C6D8DWNP", "SAR", "Asia/Riyadh"},
	"EG": {EU, "ARBP9OOSHTCHU", "EGP", "Africa/Cairo"},
	"IN": {EU, "A21TJRUUN4KGV", "INR", "Asia/Kolkata"},
	"ZA": {EU, "AE08WJ6YKNBMC", "ZAR", "Africa/Johannesburg"},
	"JP": {FE, "A1VC38T7YXB528", "JPY", "Asia/Tokyo"},
	"AU": {FE, "A39IBJ37TRP1C6", "AUD", "Australia/Sydney"},
	"SG": {FE, "A19VAU5U5O7RUS", "SGD", "Asia/Singapore"},
}
