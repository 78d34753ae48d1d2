package main

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"adlens"
	"adlens/internal/answer"
	"adlens/internal/auth"
	"adlens/internal/clickhouse"
	"adlens/internal/query"

	"github.com/spf13/cobra"
)

// linkCommand is how links of a kind are made, listed and revoked on the command
// line.
type linkCommand struct {
	kind     *auth.Link
	name     string // of the command
	path     string // before the token
	idPrefix string
	header   string // of the columns of the list
	days     int    // for how long a link is valid where nothing else is chosen
	most     int    // days that can be chosen at most; 0 is no bound
	// read reads what is saved, and returns it in its normal form with the requests
	// that the link answers. The notice is "" where all of the text is saved.
	read func(text string) (saved, notice string, requests []answer.Request, err error)
}

// newLink is what create reads of its flags and arguments.
type newLink struct{ account, name, saved, base, marketplaces string }

// addFlags adds the flags of create that all kinds have.
func (l linkCommand) addFlags(cmd *cobra.Command, n *newLink) {
	latest := lastExpiry.String()
	if l.most > 0 {
		latest = fmt.Sprintf("%d days from today", l.most)
	}
	cmd.Flags().StringVar(&n.account, "account", "", "the account that is read (needed)")
	cmd.Flags().StringVar(&n.name, "name", "", "what the "+l.kind.Name+" is for (needed)")
	addMarketplaces(cmd, &n.marketplaces)
	cmd.Flags().String("expires", "", fmt.Sprintf("last day, YYYY-MM-DD in UTC, on which it answers; %s at the latest, in %d days by default", latest, l.days))
	cmd.Flags().StringVar(&n.base, "base", "", "what clients see before "+strings.TrimSuffix(l.path, "/")+", https://figures.example.com for example; the path alone by default")
	cmd.MarkFlagRequired("account")
	cmd.MarkFlagRequired("name")
}

// create makes a link, tries what it answers, stores it, and prints its address, this
// once. It says when the link ends, because links end also where no day was chosen.
func (l linkCommand) create(o *options, cmd *cobra.Command, n newLink) error {
	now := time.Now()
	end, err := l.endOf(cmd, now)
	if err != nil {
		return err
	}
	if strings.TrimSpace(n.name) == "" {
		return fmt.Errorf("the name is empty; expected what the %s is for", l.kind.Name)
	}
	if err := checkBase(n.base); err != nil {
		return err
	}
	saved, leftOut, requests, err := l.read(n.saved)
	if err != nil {
		return err
	}
	token := l.kind.NewToken()
	record := auth.Record{
		ID: newID(l.idPrefix), AccountID: n.account, Name: n.name, Start: token.Start(), Hash: token.Hash(),
		Scopes: []string{auth.ScopeRead}, Request: saved, CreatedAt: now.UTC().Truncate(time.Millisecond), ExpiresAt: end,
	}
	return o.withDatabase(cmd.Context(), func(d *data) error {
		if _, err := d.requireAccount(cmd.Context(), n.account); err != nil {
			return err
		}
		if record.Marketplaces, err = d.ownMarketplaces(cmd.Context(), cmd, n.account, n.marketplaces); err != nil {
			return err
		}
		notice, err := d.tryLink(cmd.Context(), l.kind, token, record, requests)
		if err != nil {
			return fmt.Errorf("%s is not answered: %w", saved, err)
		}
		for _, text := range []string{leftOut, notice, describeCurrency(record, requests)} {
			if text != "" {
				fmt.Fprintln(cmd.ErrOrStderr(), text)
			}
		}
		if err := d.Feeds.PutFeed(cmd.Context(), record); err != nil {
			return err
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "the %s answers until the end of %s in UTC; --expires chooses another last day\n", l.kind.Name, end.AddDate(0, 0, -1).Format(time.DateOnly))
		address := strings.TrimRight(n.base, "/") + l.path + token.Reveal()
		if o.json {
			line := l.line(record)
			line.Address = address
			return explainUnprinted(l.name, record.ID, printJSON(cmd.OutOrStdout(), line))
		}
		_, err = fmt.Fprintln(cmd.OutOrStdout(), address)
		return explainUnprinted(l.name, record.ID, err)
	})
}

// checkBase refuses what makes no address when a path is added. "" is none. The server's
// paths begin at the root of a host, as those of its pages' scripts and styles do.
func checkBase(text string) error {
	u, err := url.Parse(text)
	if text == "" || err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != "" && u.User == nil && strings.Trim(u.Path, "/") == "" && !strings.ContainsAny(text, "?# ") {
		return nil
	}
	return fmt.Errorf("--base %q: expected https://host or https://host:port, without a path", text)
}

// endOf returns the first instant at which a new link is invalid.
func (l linkCommand) endOf(cmd *cobra.Command, now time.Time) (*time.Time, error) {
	flag := cmd.Flag("expires")
	end, err := endOf(flag, now)
	if err != nil {
		return nil, err
	}
	today := now.UTC().Truncate(24 * time.Hour)
	if end == nil {
		later := today.AddDate(0, 0, l.days+1)
		end = &later
	}
	if last := today.AddDate(0, 0, l.most); l.most > 0 && end.After(last.AddDate(0, 0, 1)) {
		return nil, fmt.Errorf("--expires: %s is more than %d days from today; expected a day up to %s", flag.Value, l.most, last.Format(time.DateOnly))
	}
	return end, nil
}

// tryLink answers what a link answers as a server would, before it is given out. A
// view that has nothing to compare yet is shown without a comparison until it has, as
// the page shows it: that is no error, but a notice, as is that a feed may lack rows.
func (d *data) tryLink(ctx context.Context, kind *auth.Link, token auth.Key, record auth.Record, requests []answer.Request) (notice string, err error) {
	admission := auth.NewAdmission(nil, auth.NewAuthenticator(candidate{record}), auth.NewLimiter(0, 0), auth.NewUsage(), d.Accounts)
	caller, err := admission.Admit(ctx, auth.Credentials{Link: kind, Token: token.Reveal()}, netip.Addr{}, time.Now())
	if err != nil {
		return "", err
	}
	answers := d.newAnswers()
	for _, request := range requests {
		pages, err := tryRequest(ctx, answers, caller, request)
		if kind == auth.Share && request.ComparesLater(err) {
			notice = fmt.Sprintf("today the link shows its view without a comparison: %v", err)
			_, err = tryRequest(ctx, answers, caller, request.WithoutComparison())
		}
		if err != nil {
			return "", err
		}
		if kind == auth.Feed && pages != nil {
			notice = describePages(*pages)
		}
	}
	return notice, nil
}

// describePages says that an answer can have more rows than a feed of it gives; "" where
// it has all of them.
func describePages(p answer.Pages) string {
	switch {
	case p.Truncated:
		return fmt.Sprintf("the link leaves rows out: an answer has %d at most, and today there are %d; narrow its request", p.PageSize, p.Rows)
	case p.All:
		return ""
	}
	return fmt.Sprintf("the link answers one page, of %d rows at most; today there are %d", p.PageSize, p.Rows)
}

// describeCurrency says that a link goes by all marketplaces of an account and is refused
// once one of them has another currency; "" for any other link.
func describeCurrency(record auth.Record, requests []answer.Request) string {
	if record.Marketplaces != nil || !slices.ContainsFunc(requests, answer.Request.NeedsOneCurrency) {
		return ""
	}
	return "the link will be refused once the account has a marketplace with another currency, even one without figures; to avoid that, revoke it and create one with --marketplaces"
}

// newAnswers returns what answers requests from the data, without reading lists from
// the platform.
func (d *data) newAnswers() *answer.Service {
	return answer.New(answer.Config{Figures: query.NewService(d.Figures, d.Lists), Connections: d.Connections, Lists: idle{}, Now: time.Now})
}

func tryRequest(ctx context.Context, answers *answer.Service, caller auth.Caller, request answer.Request) (*answer.Pages, error) {
	question, err := answers.Ask(ctx, caller, request)
	if err != nil {
		return nil, err
	}
	defer question.Close()
	a, err := question.Answer(ctx)
	if err != nil {
		return nil, err
	}
	return a.Pages, nil
}

// refusalOf returns why a stored link answers 404 until its account changes; nil where
// it does not.
func refusalOf(ctx context.Context, db *clickhouse.Database, account adlens.Account, link auth.Record) (refusal, err error) {
	read := feeds.read
	if auth.Share.IsOf(link) {
		read = shares.read
	}
	_, _, requests, err := read(link.Request)
	if err != nil {
		return err, nil
	}
	answers := (&data{Database: db}).newAnswers()
	for _, request := range requests {
		refusal, err := answers.RefusalOf(ctx, auth.Caller{Account: account, Marketplaces: link.Marketplaces}, request)
		if refusal != nil || err != nil {
			return refusal, err
		}
	}
	return nil, nil
}

// candidate is a store of one link.
type candidate struct{ auth.Record }

func (c candidate) KeyByHash(_ context.Context, hash [32]byte) (auth.Record, bool, error) {
	return c.Record, c.Hash == hash, nil
}

// idle reads nothing from the platform.
type idle struct{}

func (idle) Asked(context.Context, string, string, *time.Time) (bool, bool, error) {
	return false, false, nil
}

// linkJSON is a link as JSON shows it. Of the ids and of what is saved it has those
// of its kind, and the address when it is made.
type linkJSON struct {
	Address string `json:"address,omitempty"`
	FeedID  string `json:"feed_id,omitempty"`
	ShareID string `json:"share_id,omitempty"`
	Account string `json:"account_id"`
	Name    string `json:"name"`
	Start   string `json:"start"`
	Request string `json:"request,omitempty"`
	View    string `json:"view,omitempty"`
	// Marketplaces is null for all of the account's.
	Marketplaces []string `json:"marketplaces"`
	CreatedAt    string   `json:"created_at"`
	LastUsedAt   *string  `json:"last_used_at"`
	ExpiresAt    *string  `json:"expires_at"`
	RevokedAt    *string  `json:"revoked_at"`
}

func (l linkCommand) line(r auth.Record) linkJSON {
	line := linkJSON{Account: r.AccountID, Name: r.Name, Start: r.Start, Marketplaces: r.Marketplaces, CreatedAt: adlens.FormatTime(r.CreatedAt), LastUsedAt: adlens.FormatOptionalTime(r.LastUsedAt), ExpiresAt: adlens.FormatOptionalTime(r.ExpiresAt), RevokedAt: adlens.FormatOptionalTime(r.RevokedAt)}
	if l.kind == auth.Share {
		line.ShareID, line.View = r.ID, r.Request
	} else {
		line.FeedID, line.Request = r.ID, r.Request
	}
	return line
}

// records are how links of the kind are listed, found and revoked. A link of another
// kind is unknown.
func (l linkCommand) records() recordKind[auth.Record, linkJSON] {
	return recordKind[auth.Record, linkJSON]{command: l.name, what: l.kind.Name,
		read: func(ctx context.Context, d *data, account string) ([]auth.Record, error) {
			all, err := d.Feeds.Feeds(ctx, account)
			return slices.DeleteFunc(all, func(r auth.Record) bool { return !l.kind.IsOf(r) }), err
		},
		line:   l.line,
		header: l.header,
		cells: func(j linkJSON) []string {
			return []string{cmp.Or(j.FeedID, j.ShareID), j.Name, j.Start, cmp.Or(j.Request, j.View), allOr(j.Marketplaces), j.CreatedAt, orDash(j.LastUsedAt), orDash(j.ExpiresAt), orDash(j.RevokedAt)}
		},
		id: strings.ToUpper(l.name) + "_ID",
		find: func(ctx context.Context, d *data, id string) (auth.Record, bool, error) {
			r, found, err := d.Feeds.FeedByID(ctx, id)
			return r, found && l.kind.IsOf(r), err
		},
		put:  func(ctx context.Context, d *data, r auth.Record) error { return d.Feeds.PutFeed(ctx, r) },
		end:  func(r *auth.Record) **time.Time { return &r.RevokedAt },
		name: func(r auth.Record) string { return r.Name }, account: func(r auth.Record) string { return r.AccountID },
	}
}
