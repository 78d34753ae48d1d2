package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"adlens"
	"adlens/internal/connector"
	ecbapi "adlens/internal/ecb/api"
	"adlens/internal/platform"
	"adlens/internal/platform/api"
	"adlens/internal/secret"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// platformOptions are the flags of commands that talk to the platform.
type platformOptions struct {
	baseURL, tokenURL, keyFile string
	ratesURL                   string // "" where no rates are fetched
}

func (po *platformOptions) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&po.baseURL, "platform-url", "", "address in place of the platform's, for tests; loopback http is allowed")
	cmd.Flags().StringVar(&po.tokenURL, "platform-token-url", "", "address in place of the platform's token service, for tests")
	po.secretFlag(cmd)
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

// secretFlag is the flag of those who read credentials.
func (po *platformOptions) secretFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&po.keyFile, "secret-key-file", "", "key that credentials are sealed with (default secret.key in the data directory, made where it is missing)")
}

// newConnector returns the connection room of a command. keyOf reads or makes the
// key of secrets when it is needed.
func (o *options) newConnector(d *data, po platformOptions, l connector.Loader, keyOf func(path string) (secret.Key, error),
	notice func(account, text string)) *connector.Connector {
	path := po.keyFile
	if path == "" {
		path = filepath.Join(o.dataDir, "secret.key")
	}
	return connector.New(connector.Config{Store: d.Connections, Loader: l, Locks: d.locker, BaseURL: po.baseURL, TokenURL: po.tokenURL,
		Key: func() (secret.Key, error) { return keyOf(path) }, Notice: notice})
}

func newConnect(o *options) *cobra.Command {
	var account, region, clientID, secretsFile string
	po := platformOptions{}
	cmd := &cobra.Command{
		Use:   "connect --account ID --region NA|EU|FE --client-id X",
		Short: "Connect an account to the ad platform",
		Long: `Store credentials of the ad platform for an account, after the platform took
them, and take the profiles that it lists as the account's marketplaces.

The client secret and the refresh token are never arguments. They come from
ADLENS_CLIENT_SECRET and ADLENS_REFRESH_TOKEN, or from a file of JSON with
client_secret and refresh_token (--secrets-file), or they are asked for. They
are kept encrypted.`,
		Example: `  export ADLENS_CLIENT_SECRET=... ADLENS_REFRESH_TOKEN=...
  adlens connect --account acme --region NA --client-id amzn1.application-oa2-client...`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			region, err := api.ParseRegion(region)
			if err != nil {
				return err
			}
			return o.withDatabase(cmd.Context(), func(d *data) error {
				if err := d.requireAccount(cmd.Context(), account); err != nil {
					return err
				}
				secrets, err := readSecrets(secretsFile, cmd.InOrStdin(), cmd.ErrOrStderr())
				if err != nil {
					return err
				}
				p := o.newProgress(cmd.ErrOrStderr())
				defer p.endProgress()
				c := o.newConnector(d, po, d.newLoader(p), secret.ReadOrMakeKey, p.noticeOf)
				profiles, err := c.Connect(cmd.Context(), account, string(region), clientID, secrets)
				if err != nil {
					return err
				}
				return o.sayProfiles(cmd.OutOrStdout(), account, profiles)
			})
		},
	}
	cmd.Flags().StringVar(&account, "account", "", "the account to connect (needed)")
	cmd.Flags().StringVar(&region, "region", "", "NA, EU or FE: where the advertiser's marketplaces are (needed)")
	cmd.Flags().StringVar(&clientID, "client-id", "", "id of the platform application (needed)")
	cmd.Flags().StringVar(&secretsFile, "secrets-file", "", "file of JSON with client_secret and refresh_token, readable by its owner only")
	po.addFlags(cmd)
	for _, needed := range []string{"account", "region", "client-id"} {
		cmd.MarkFlagRequired(needed)
	}
	return cmd
}

func (o *options) sayProfiles(w io.Writer, account string, profiles []platform.Profile) error {
	if o.json {
		type line struct {
			ID       string `json:"marketplace_id"`
			Country  string `json:"country_code"`
			Currency string `json:"currency_code"`
			TimeZone string `json:"timezone"`
		}
		lines := make([]line, len(profiles))
		for i, p := range profiles {
			lines[i] = line{p.ID, p.Country, p.Currency, p.TimeZone}
		}
		return printJSON(w, map[string]any{"account_id": account, "data": lines})
	}
	fmt.Fprintf(w, "account %s is connected; its marketplaces:\n", account)
	for _, p := range profiles {
		fmt.Fprintf(w, "  %s  %s (%s), %s, %s\n", p.ID, adlens.CountryName(p.Country), p.Country, p.Currency, p.TimeZone)
	}
	return nil
}

// readSecrets takes both secrets from one place: a file, the environment, or
// whoever sits at the terminal.
func readSecrets(path string, in io.Reader, out io.Writer) (connector.Secrets, error) {
	var s connector.Secrets
	var err error
	if path != "" {
		s, err = secretsOfFile(path)
	} else {
		s = connector.Secrets{ClientSecret: os.Getenv("ADLENS_CLIENT_SECRET"), RefreshToken: os.Getenv("ADLENS_REFRESH_TOKEN")}
		if s.ClientSecret == "" && s.RefreshToken == "" {
			s, err = askSecrets(in, out)
		}
	}
	if err == nil && (s.ClientSecret == "" || s.RefreshToken == "") {
		err = fmt.Errorf("both the client secret and the refresh token are needed: set ADLENS_CLIENT_SECRET and ADLENS_REFRESH_TOKEN, or give --secrets-file")
	}
	return s, err
}

func secretsOfFile(path string) (connector.Secrets, error) {
	var s connector.Secrets
	info, err := os.Stat(path)
	if err != nil {
		return s, err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return s, fmt.Errorf("%s can be read by others (mode %04o); expected 0600: chmod 600 %s", path, mode, path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("%s: expected JSON with client_secret and refresh_token", path)
	}
	return s, nil
}

// askSecrets reads two lines, without showing them where a person types.
func askSecrets(in io.Reader, out io.Writer) (s connector.Secrets, err error) {
	f, isFile := in.(*os.File)
	terminal := isFile && term.IsTerminal(int(f.Fd()))
	lines := bufio.NewReader(in)
	for _, ask := range []struct {
		name string
		into *string
	}{{"client secret", &s.ClientSecret}, {"refresh token", &s.RefreshToken}} {
		if terminal {
			fmt.Fprintf(out, "%s: ", ask.name)
			text, err := term.ReadPassword(int(f.Fd()))
			fmt.Fprintln(out)
			if err != nil {
				return s, err
			}
			*ask.into = strings.TrimSpace(string(text))
			continue
		}
		text, err := lines.ReadString('\n')
		if err != nil && err != io.EOF {
			return s, err
		}
		*ask.into = strings.TrimSpace(text)
	}
	return s, nil
}
