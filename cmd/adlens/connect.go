package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"adlens"
	"adlens/internal/connector"
	ecbapi "adlens/internal/ecb/api"
	"adlens/internal/platform"
	"adlens/internal/platform/api"
	"adlens/internal/secret"

	"github.com/spf13/cobra"
)

// platformOptions are the flags of commands that talk to the platform.
type platformOptions struct {
	baseURL, tokenURL addressesFlag
	pace              int // divides pauses
	keyFile           string
	ratesURL          string // "" where no rates are fetched
}

func (po *platformOptions) addFlags(cmd *cobra.Command) {
	cmd.Flags().Var(&po.baseURL, "platform-url", "address in place of the platform's, for tests, or one for each region: NA=URL,EU=URL; loopback http is allowed")
	cmd.Flags().Var(&po.tokenURL, "platform-token-url", "address in place of the platform's token service, for tests, or one for each region")
	cmd.Flags().IntVar(&po.pace, "platform-pace", 1, "divides the pauses between looks and tries at what --platform-url names, for tests")
	po.secretFlag(cmd)
}

// checkPace allows a faster pace only against a stand-in.
func (po platformOptions) checkPace() error {
	if po.pace < 1 {
		return fmt.Errorf("--platform-pace is %d; expected 1 or more", po.pace)
	}
	if po.pace > 1 && po.baseURL.text == "" {
		return fmt.Errorf("--platform-pace is %d without --platform-url; expected 1: a faster pace needs --platform-url", po.pace)
	}
	return nil
}

// addRatesFlag adds the flag of commands that fetch rates of exchange.
func (po *platformOptions) addRatesFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&po.ratesURL, "rates-url", ecbapi.DailyURL, "the European Central Bank's daily file of rates; eurofxref-hist.zip is next to it; none is off")
}

// newBank returns where rates are fetched, nil for nowhere.
func (po platformOptions) newBank() (connector.Bank, error) {
	if po.ratesURL == "" || po.ratesURL == "none" {
		return nil, nil
	}
	bank, err := ecbapi.New(po.ratesURL)
	if err != nil {
		return nil, fmt.Errorf("--rates-url: %w", err)
	}
	return bank, nil
}

// addressesFlag is a flag of addresses that replace one of the platform's.
type addressesFlag struct {
	connector.Addresses
	text string
}

func (a *addressesFlag) String() string { return a.text }
func (a *addressesFlag) Type() string   { return "string" }
func (a *addressesFlag) Set(text string) (err error) {
	a.text = text
	a.Addresses, err = connector.ParseAddresses(text)
	return err
}

// secretFlag is the flag of those who read credentials.
func (po *platformOptions) secretFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&po.keyFile, "secret-key-file", "", "key that credentials are sealed with (default secret.key in the data directory, made where it is missing)")
}

// checkKey reports whether the key that was named can be read, where one was.
func (po *platformOptions) checkKey() error {
	if po.keyFile == "" {
		return nil
	}
	_, err := secret.ReadKey(po.keyFile)
	return err
}

// newConnector returns the connection room of a command. keyOf reads or makes the
// key of secrets when it is needed.
func (o *options) newConnector(d *data, po platformOptions, l connector.Loader, keyOf func(path string) (secret.Key, error),
	notice func(account, text string)) *connector.Connector {
	path := po.keyFile
	if path == "" {
		path = filepath.Join(o.dataDir, "secret.key")
	}
	return connector.New(connector.Config{Store: d.Connections, Loader: l, Locks: d.locker, BaseURL: po.baseURL.Addresses, TokenURL: po.tokenURL.Addresses, Pace: po.pace,
		Key: func() (secret.Key, error) { return keyOf(path) }, Notice: notice})
}

func newConnect(o *options) *cobra.Command {
	var secretsFile, profiles, countries, redirect string
	wanted, po := adlens.Connection{}, platformOptions{}
	cmd := &cobra.Command{
		Use:   "connect --account ID --region NA|EU|FE --client-id X [--name NAME]",
		Short: "Connect an account to the ad platform",
		Long: `Store credentials of the ad platform for an account, after the platform took
them, and take the profiles that it lists as the account's marketplaces. An
account has any number of connections, one for each region or login, each with a
name; connecting again under the same name renews the credentials of that one.

--profiles or --countries choose the profiles that are taken; the choice is kept with
the connection. Without either, all are taken where they are of one advertiser:
of one seller id, or of vendors of which no country occurs twice. Where they are
of several, as an agency's are, they are listed and nothing is taken or stored
until some are chosen. A profile belongs to one connection of an account.

The client secret and the refresh token are never arguments. They come from
ADLENS_CLIENT_SECRET and ADLENS_REFRESH_TOKEN, or from a file of JSON with
client_secret and refresh_token (--secrets-file), or they are asked for. They
are kept encrypted.

Without a refresh token, --redirect-url has the advertiser consent at the
platform: the command prints the address to open in a browser and waits for the
answer. The redirect address is one of the allowed return addresses of the
platform application, written exactly as there. One like http://localhost:8765/
is listened on; from any other, or on a machine without a browser, paste the
address that the browser was sent to, or the code in it.

With --json it prints account_id, connection and in data[] marketplace_id,
country_code, currency_code, timezone, account_type and advertiser_id of each
profile taken; where some have to be chosen first, connection is null and data[]
has those found.`,
		Example: `  export ADLENS_CLIENT_SECRET=... ADLENS_REFRESH_TOKEN=...
  adlens connect --account acme --region NA --client-id amzn1.application-oa2-client...
  adlens connect --account acme --name brand --region EU --countries UK,DE --client-id ...
  adlens connect --account acme --region NA --client-id ... \
    --redirect-url http://localhost:8765/`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			region, err := api.ParseRegion(wanted.Region)
			if err = errors.Join(err, po.checkPace()); err != nil {
				return err
			}
			wanted.Region, wanted.Name = string(region), cmp.Or(wanted.Name, string(region))
			if wanted.Choice, err = parseChoice(cmd, profiles, countries); err != nil {
				return err
			}
			return o.withDatabase(cmd.Context(), func(d *data) error {
				if _, err := d.requireAccount(cmd.Context(), wanted.Account); err != nil {
					return err
				}
				p := o.newProgress(cmd.ErrOrStderr())
				defer p.endProgress()
				c := o.newConnector(d, po, d.newLoader(p), secret.ReadOrMakeKey, p.noticeOf)
				if err := c.CheckNew(cmd.Context(), wanted); err != nil {
					return err
				}
				in := newTyped(cmd.InOrStdin(), cmd.ErrOrStderr())
				secrets, err := in.readSecrets(cmd.Context(), secretsFile, redirect != "")
				if err != nil {
					return err
				}
				if secrets.RefreshToken != "" {
					redirect = "" // no consent is needed, now or to choose profiles
				} else if secrets, err = c.Ask(cmd.Context(), wanted, secrets.ClientSecret, api.Consent{Redirect: redirect, Show: in.showConsent, Pasted: in.lines}); err != nil {
					return err
				}
				taken, err := c.Connect(cmd.Context(), wanted, secrets)
				var several *connector.SeveralAdvertisers
				if errors.As(err, &several) {
					return errors.Join(o.sayFound(cmd.OutOrStdout(), wanted, several.Found), fmt.Errorf("%w; %s", err, connector.HowToChoose(wanted, redirect)))
				}
				if len(taken) == 0 {
					return err
				}
				said := explainDone("account "+wanted.Account+" is connected ("+wanted.Name+")", o.sayConnected(cmd.OutOrStdout(), wanted, taken))
				return errors.Join(said, err) // some may be left out
			})
		},
	}
	cmd.Flags().StringVar(&wanted.Account, "account", "", "the account to connect (needed)")
	cmd.Flags().StringVar(&wanted.Name, "name", "", "name of the connection, one of which the account may have several (default the region)")
	cmd.Flags().StringVar(&wanted.Region, "region", "", "NA, EU or FE: where the advertiser's marketplaces are (needed)")
	cmd.Flags().StringVar(&wanted.ClientID, "client-id", "", "id of the platform application (needed)")
	cmd.Flags().StringVar(&profiles, "profiles", "", "ids of the profiles to take, with commas between them")
	cmd.Flags().StringVar(&countries, "countries", "", "countries of which all profiles are taken, like US,CA")
	cmd.Flags().StringVar(&redirect, "redirect-url", "", "allowed return address of the platform application, for consent in a browser where there is no refresh token")
	cmd.Flags().StringVar(&secretsFile, "secrets-file", "", "file of JSON with client_secret and refresh_token, readable by its owner only")
	po.addFlags(cmd)
	for _, needed := range []string{"account", "region", "client-id"} {
		cmd.MarkFlagRequired(needed)
	}
	return cmd
}

// parseChoice reads which profiles are to be taken.
func parseChoice(cmd *cobra.Command, profiles, countries string) (choice adlens.Choice, err error) {
	if cmd.Flag("profiles").Changed && cmd.Flag("countries").Changed {
		return choice, fmt.Errorf("--profiles %q and --countries %q: expected one of the two", profiles, countries)
	}
	if choice.Profiles, err = parseList(cmd, "profiles", profiles, "ids like 3982475484689176", profileForm); err != nil {
		return choice, err
	}
	choice.Countries, err = parseList(cmd, "countries", strings.ToUpper(countries), "codes of two letters like US", countryForm)
	for i, country := range choice.Countries {
		choice.Countries[i] = adlens.CanonicalCountry(country)
	}
	slices.Sort(choice.Countries)
	choice.Countries = slices.Compact(choice.Countries)
	return choice, err
}

var (
	profileForm = regexp.MustCompile(`^[0-9A-Za-z_-]{1,64}$`)
	countryForm = regexp.MustCompile(`^[A-Z]{2}$`)
)

// parseList reads a flag of values with commas between them, each once and sorted.
func parseList(cmd *cobra.Command, flag, text, expected string, form *regexp.Regexp) (all []string, err error) {
	if !cmd.Flag(flag).Changed {
		return nil, nil
	}
	for one := range strings.SplitSeq(text, ",") {
		if one = strings.TrimSpace(one); !form.MatchString(one) {
			return nil, fmt.Errorf("--%s has %q; expected %s, with commas between them", flag, one, expected)
		}
		all = append(all, one)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

type profileJSON struct {
	ID         string `json:"marketplace_id"`
	Country    string `json:"country_code"`
	Currency   string `json:"currency_code"`
	TimeZone   string `json:"timezone"`
	Type       string `json:"account_type"`
	Advertiser string `json:"advertiser_id"`
}

func profileLines(profiles []platform.Profile) []profileJSON {
	lines := make([]profileJSON, len(profiles))
	for i, p := range profiles {
		kind := "seller"
		if p.Vendor {
			kind = "vendor"
		}
		lines[i] = profileJSON{p.ID, p.Country, p.Currency, p.TimeZone, kind, p.Advertiser}
	}
	return lines
}

// sayConnected prints the profiles that a connection has taken.
func (o *options) sayConnected(w io.Writer, c adlens.Connection, taken []platform.Profile) error {
	if o.json {
		return printJSON(w, map[string]any{"account_id": c.Account, "connection": c.Name, "data": profileLines(taken)})
	}
	fmt.Fprintf(w, "account %s is connected (%s); its marketplaces:\n", c.Account, c.Name)
	return printProfiles(w, taken)
}

// sayFound prints the profiles of which some have to be chosen first.
func (o *options) sayFound(w io.Writer, c adlens.Connection, found []platform.Profile) error {
	if o.json {
		return printJSON(w, map[string]any{"account_id": c.Account, "connection": nil, "data": profileLines(found)})
	}
	fmt.Fprintln(w, "profiles found, of which nothing was taken:")
	return printProfiles(w, found)
}

func printProfiles(w io.Writer, profiles []platform.Profile) error {
	for i, l := range profileLines(profiles) {
		who := strings.Join(strings.Fields(l.Type+" "+l.Advertiser+" "+profiles[i].Name), " ")
		if _, err := fmt.Fprintf(w, "  %s  %s (%s), %s, %s, %s\n", l.ID, adlens.CountryName(l.Country), l.Country, l.Currency, l.TimeZone, who); err != nil {
			return err
		}
	}
	return nil
}
