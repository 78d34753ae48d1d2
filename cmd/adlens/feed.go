package main

import (
	"fmt"
	"net/url"
	"strings"

	"adlens/internal/answer"
	"adlens/internal/auth"

	"github.com/spf13/cobra"
)

// feeds are the links that answer one saved request.
var feeds = linkCommand{kind: auth.Feed, name: "feed", path: "/feed/", idPrefix: "f_", days: 365, read: readFeed,
	header: "FEED ID\tNAME\tSTART\tREQUEST\tMARKETPLACES\tCREATED\tLAST USED\tEXPIRES\tREVOKED"}

func newFeed(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "feed",
		Short: "Create, list and revoke addresses that answer one saved request",
		Long: `A feed link is an address that answers one saved request without a key, for
spreadsheet functions that cannot send a header: IMPORTDATA, WEBSERVICE, or the
external links of LibreOffice Calc. Anyone with the address can read that one
answer and nothing else. It has a small budget of its own, and counts against
the account's limits too.`,
		Example: `  adlens feed create --account acme --name sheet --request '/timeline?range=last_30_days'`,
		RunE:    needSubcommand,
	}
	cmd.AddCommand(newFeedCreate(o), newFeedList(o), newFeedRevoke(o))
	return cmd
}

func newFeedCreate(o *options) *cobra.Command {
	var n newLink
	cmd := &cobra.Command{
		Use:   "create --account ID --name NAME --request REQUEST [--marketplaces US,UK] [--expires DATE]",
		Short: "Save a request and print the address that answers it, this once",
		Long: `Save a request and print the address that answers it, this once.

The request is what would follow /api/v1 in an address: its answer is tried
before anything is saved. Where it names no format, the feed is CSV; where it
names no page, it has all rows that an answer can have: 1,000 of campaigns and ad
groups, 100,000 of others. A notice says where there may be more. With --marketplaces
it is answered as a key for those would be (see adlens key create). In a cell of
Google Sheets: =IMPORTDATA("https://figures.example.com/feed/feed_...")

That formula reads ids as numbers, of 15 digits and without leading zeros: for ids use
the script for Google Sheets (/docs/recipes/google-sheets), or format=xlsx.`,
		Example: `  adlens feed create --account acme --name "daily sheet" \
    --request '/timeline?range=last_30_days' --base https://figures.example.com`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return feeds.create(o, cmd, n) },
	}
	feeds.addFlags(cmd, &n)
	cmd.Flags().StringVar(&n.saved, "request", "", "path and query string after /api/v1 (needed)")
	cmd.MarkFlagRequired("request")
	return cmd
}

// readFeed reads the request of a feed, with what it is by default.
func readFeed(text string) (saved, notice string, requests []answer.Request, err error) {
	if saved, err = savedRequest(text); err != nil {
		return "", "", nil, err
	}
	request, err := answer.ReadAddress(saved)
	return saved, "", []answer.Request{request}, err
}

// savedRequest fills in what a feed is by default.
func savedRequest(request string) (string, error) {
	path, query, _ := strings.Cut(strings.TrimPrefix(request, answer.APIPath), "?")
	if !strings.HasPrefix(path, "/") {
		return "", fmt.Errorf("--request %q: expected a path after /api/v1, /summary?range=last_30_days for example", request)
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return "", fmt.Errorf("--request %q does not parse; expected name=value pairs after ?, joined by &, with %%XX for other characters", request)
	}
	if !values.Has("format") {
		query = addParameter(query, "format=csv")
	}
	if most := answer.LargestPage(strings.TrimPrefix(path, "/")); most != "" && !values.Has("page") && !values.Has("page_size") {
		query = addParameter(query, "page_size="+most)
	}
	return answer.APIPath + path + "?" + query, nil
}

// addParameter adds a parameter to a query string as it was written.
func addParameter(query, more string) string {
	if query == "" {
		return more
	}
	return query + "&" + more
}

func newFeedList(o *options) *cobra.Command {
	return feeds.records().newList(o, "List the feed links of an account", `List the feed links of an account, revoked and expired ones too: what each
answers and when it was last used. The tokens themselves are kept nowhere.`)
}

func newFeedRevoke(o *options) *cobra.Command {
	return feeds.records().newRevoke(o, "Revoke a feed link; running servers stop answering it within seconds", `Revoke a feed link for good. Running servers stop answering it within seconds.
Sheets that use it show an error from then on.`, "f_vxq3yk6fdzh2m5b7c4wl")
}
