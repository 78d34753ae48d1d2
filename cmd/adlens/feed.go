package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"adlens/internal/answer"
	"adlens/internal/auth"
	"adlens/internal/query"

	"github.com/spf13/cobra"
)

func newFeed(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "feed",
		Short: "Create, list and revoke addresses that answer one saved request",
		Long: `A feed link is an address that answers one saved request without a key, for
spreadsheet functions that cannot send a header: IMPORTDATA, WEBSERVICE, or the
external links of LibreOffice Calc. Who has the address can read that one
answer and nothing else. It has a small budget of its own, and counts against
the account's limits too.`,
		Example: `  adlens feed create --account acme --name sheet --request '/timeline?range=last_30_days'`,
		RunE:    needSubcommand,
	}
	cmd.AddCommand(newFeedCreate(o), newFeedList(o), newFeedRevoke(o))
	return cmd
}

// feedDays is for how long a feed link is valid where nobody says otherwise.
const feedDays = 365

func newFeedCreate(o *options) *cobra.Command {
	var account, name, request, base string
	cmd := &cobra.Command{
		Use:   "create --account ID --name NAME --request REQUEST [--expires DATE]",
		Short: "Save a request and print the address that answers it, this once",
		Long: `Save a request and print the address that answers it, this once.

The request is what would follow /api/v1 in an address: its answer is tried
before anything is saved. Where it names no format, the feed is CSV; where it
names no page, it has all rows that an answer can have. In a cell of Google
Sheets: =IMPORTDATA("https://figures.example.com/feed/feed_...")`,
		Example: `  adlens feed create --account acme --name "daily sheet" \
    --request '/timeline?range=last_30_days' --base https://figures.example.com`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			now := time.Now()
			end, err := endOf(cmd.Flag("expires"), now)
			if err != nil {
				return err
			}
			record, token, err := newFeedLink(account, name, request, end, now)
			if err != nil {
				return err
			}
			return o.withDatabase(cmd.Context(), func(d *data) error {
				if err := d.saveFeed(cmd.Context(), token, record); err != nil {
					return err
				}
				address := strings.TrimRight(base, "/") + "/feed/" + token.Reveal()
				if o.json {
					return printJSON(cmd.OutOrStdout(), struct {
						Address string `json:"address"`
						feedJSON
					}{address, feedLine(record)})
				}
				fmt.Fprintln(cmd.OutOrStdout(), address)
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&account, "account", "", "the account that is read (needed)")
	cmd.Flags().StringVar(&name, "name", "", "what the feed is for (needed)")
	cmd.Flags().StringVar(&request, "request", "", "path and query string after /api/v1 (needed)")
	cmd.Flags().String("expires", "", fmt.Sprintf("last day, YYYY-MM-DD in UTC, on which it answers; %s at the latest, in %d days by default", lastExpiry, feedDays))
	cmd.Flags().StringVar(&base, "base", "", "what clients see before /feed, https://figures.example.com for example; the path alone by default")
	cmd.MarkFlagRequired("account")
	cmd.MarkFlagRequired("name")
	cmd.MarkFlagRequired("request")
	return cmd
}

// newFeedLink makes a link that is not stored yet.
func newFeedLink(account, name, request string, end *time.Time, now time.Time) (auth.Record, auth.Key, error) {
	if strings.TrimSpace(name) == "" {
		return auth.Record{}, auth.Key{}, fmt.Errorf("the name is empty; expected what the feed is for")
	}
	if end == nil {
		later := now.UTC().Truncate(24*time.Hour).AddDate(0, 0, feedDays+1)
		end = &later
	}
	saved, err := savedRequest(request)
	if err != nil {
		return auth.Record{}, auth.Key{}, err
	}
	token := auth.NewFeedToken()
	return auth.Record{
		ID: "f_" + strings.ToLower(rand.Text()[:20]), AccountID: account, Name: name, Start: token.Start(), Hash: token.Hash(),
		Scopes: []string{auth.ScopeRead}, Request: saved, CreatedAt: now.UTC().Truncate(time.Millisecond), ExpiresAt: end,
	}, token, nil
}

// pagedPaths are those whose answers can have all rows at once.
var pagedPaths = map[string]bool{"/api/v1/reports/products": true, "/api/v1/report": true, "/api/v1/rules": true, "/api/v1/activity": true}

// savedRequest fills in what a feed is by default.
func savedRequest(request string) (string, error) {
	path, query, _ := strings.Cut(strings.TrimPrefix(request, "/api/v1"), "?")
	if !strings.HasPrefix(path, "/") {
		return "", fmt.Errorf("--request %q: expected a path after /api/v1, /summary?range=last_30_days for example", request)
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return "", fmt.Errorf("--request %q: %w", request, err)
	}
	path = "/api/v1" + path
	if !values.Has("format") {
		query = addParameter(query, "format=csv")
	}
	if pagedPaths[path] && !values.Has("page") && !values.Has("page_size") {
		query = addParameter(query, "page_size=all")
	}
	return path + "?" + query, nil
}

// addParameter adds a parameter to a query string as it was written.
func addParameter(query, more string) string {
	if query == "" {
		return more
	}
	return query + "&" + more
}

// saveFeed stores a link whose request was answered.
func (d *data) saveFeed(ctx context.Context, token auth.Key, record auth.Record) error {
	if err := d.requireAccount(ctx, record.AccountID); err != nil {
		return err
	}
	if err := d.tryFeed(ctx, token, record); err != nil {
		return fmt.Errorf("--request %q is not answered: %w", record.Request, err)
	}
	return d.Feeds.PutFeed(ctx, record)
}

// tryFeed answers the link as a server would, before it is given out.
func (d *data) tryFeed(ctx context.Context, token auth.Key, record auth.Record) error {
	admission := auth.NewAdmission(nil, auth.NewAuthenticator(candidate{record}), auth.NewLimiter(0, 0), auth.NewUsage(), d.Accounts)
	caller, err := admission.Admit(ctx, auth.Credentials{FeedToken: token.Reveal()}, netip.Addr{}, time.Now())
	if err != nil {
		return err
	}
	request, err := answer.ReadFeed(caller.Key.Request)
	if err != nil {
		return err
	}
	answers := answer.New(answer.Config{Figures: query.NewService(d.Figures, d.Lists), Connections: d.Connections, Lists: idle{}, Now: time.Now})
	question, err := answers.Ask(ctx, caller, request)
	if err != nil {
		return err
	}
	defer question.Close()
	_, err = question.Answer(ctx)
	return err
}

// candidate is a store of one feed link.
type candidate struct{ auth.Record }

func (c candidate) KeyByHash(_ context.Context, hash [32]byte) (auth.Record, bool, error) {
	return c.Record, c.Hash == hash, nil
}

// idle reads nothing from the platform.
type idle struct{}

func (idle) Asked(context.Context, string, string, *time.Time) (bool, error) { return false, nil }

type feedJSON struct {
	ID         string  `json:"feed_id"`
	Name       string  `json:"name"`
	Start      string  `json:"start"`
	Request    string  `json:"request"`
	CreatedAt  string  `json:"created_at"`
	LastUsedAt *string `json:"last_used_at"`
	ExpiresAt  *string `json:"expires_at"`
	RevokedAt  *string `json:"revoked_at"`
}

func feedLine(r auth.Record) feedJSON {
	return feedJSON{r.ID, r.Name, r.Start, r.Request, formatTime(r.CreatedAt), orNull(r.LastUsedAt), orNull(r.ExpiresAt), orNull(r.RevokedAt)}
}

func newFeedList(o *options) *cobra.Command {
	var account string
	cmd := &cobra.Command{
		Use:   "list --account ID",
		Short: "List the feed links of an account",
		Long: `List the feed links of an account, revoked and expired ones too: what each
answers and when it was last used. The tokens themselves are kept nowhere.`,
		Example: `  adlens feed list --account acme`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.withDatabase(cmd.Context(), func(d *data) error {
				return printRecords(o, cmd, d, account, d.Feeds.Feeds, feedLine, "FEED ID\tNAME\tSTART\tREQUEST\tCREATED\tLAST USED\tEXPIRES\tREVOKED", func(l feedJSON) []string {
					return []string{l.ID, l.Name, l.Start, l.Request, l.CreatedAt, orDash(l.LastUsedAt), orDash(l.ExpiresAt), orDash(l.RevokedAt)}
				})
			})
		},
	}
	cmd.Flags().StringVar(&account, "account", "", "the account (needed)")
	cmd.MarkFlagRequired("account")
	return cmd
}

func newFeedRevoke(o *options) *cobra.Command {
	feeds := revocable[auth.Record]{what: "feed", list: "feed list",
		find: func(ctx context.Context, d *data, id string) (auth.Record, bool, error) {
			return d.Feeds.FeedByID(ctx, id)
		},
		put:  func(ctx context.Context, d *data, r auth.Record) error { return d.Feeds.PutFeed(ctx, r) },
		end:  func(r *auth.Record) **time.Time { return &r.RevokedAt },
		line: func(r auth.Record) (string, any) { return r.Name, feedLine(r) },
	}
	return &cobra.Command{
		Use:   "revoke FEED_ID",
		Short: "Revoke a feed link; running servers stop answering it within seconds",
		Long: `Revoke a feed link for good. Running servers stop answering it within seconds.
Sheets that use it show an error from then on.`,
		Example: `  adlens feed revoke f_vxq3yk6fdzh2m5b7c4wl`,
		Args:    oneArgument("FEED_ID"),
		RunE:    func(cmd *cobra.Command, args []string) error { return feeds.revoke(o, cmd, args[0]) },
	}
}
