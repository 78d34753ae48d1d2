package main

import (
	"fmt"
	"strings"

	"adlens/internal/answer"
	"adlens/internal/auth"

	"github.com/spf13/cobra"
)

// shares are the links that show one saved view of the page.
var shares = linkCommand{kind: auth.Share, name: "share", path: "/share/", idPrefix: "s_", days: 30, most: 365, read: readView,
	header: "SHARE ID\tNAME\tSTART\tVIEW\tMARKETPLACES\tCREATED\tLAST USED\tEXPIRES\tREVOKED"}

func newShare(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "share",
		Short: "Create, list and revoke addresses that show one view of the page",
		Long: `A share link is an address that shows one saved view of the page to people who
have no key. Anyone with the address can turn the view's pages, sort its rows,
and read nothing else. It expires, has a budget of its own, and counts against the
account's limits too.`,
		Example: `  adlens share create --account acme --name board '#/products?range=last_30_days'`,
		RunE:    needSubcommand,
	}
	cmd.AddCommand(newShareCreate(o), newShareList(o), newShareRevoke(o))
	return cmd
}

func newShareCreate(o *options) *cobra.Command {
	var n newLink
	cmd := &cobra.Command{
		Use:   "create --account ID --name NAME [--marketplaces US,UK] [--expires DATE] VIEW",
		Short: "Save a view of the page and print the address that shows it, this once",
		Long: `Save a view of the page and print the address that shows it, this once.

VIEW is the address of the page as the browser shows it, or what it has from the
# on; "Share this view" on the page writes the whole command. What the view shows
is tried before anything is saved; where the comparison of a named range has no
days yet, without it. Filters and dates stay as they are saved, and a named range
such as last_30_days moves on. With --marketplaces the view is as a key for those
marketplaces sees it. Readers see the name.`,
		Example: `  adlens share create --account acme --name "US this month" \
    --base https://figures.example.com '#/overview?range=this_month&marketplaces=US'
  adlens share create --account acme --name board --expires 2027-03-31 '#/products'`,
		Args: oneArgument("VIEW"),
		RunE: func(cmd *cobra.Command, args []string) error {
			n.saved = args[0]
			return shares.create(o, cmd, n)
		},
	}
	shares.addFlags(cmd, &n)
	return cmd
}

// readView reads the view of a share link.
func readView(text string) (saved, notice string, requests []answer.Request, err error) {
	view, err := answer.ParseView(text)
	if err != nil {
		return "", "", nil, err
	}
	if len(view.LeftOut) > 0 {
		notice = fmt.Sprintf("the link shows %s: that view has no %s", view, strings.Join(view.LeftOut, ", "))
	}
	return view.String(), notice, view.Requests(), nil
}

func newShareList(o *options) *cobra.Command {
	return shares.records().newList(o, "List the share links of an account", `List the share links of an account, revoked and expired ones too: what each
shows and when it was last used. The tokens themselves are kept nowhere.`)
}

func newShareRevoke(o *options) *cobra.Command {
	return shares.records().newRevoke(o, "Revoke a share link; running servers stop showing it within seconds", `Revoke a share link for good. Running servers stop showing it within seconds.
What people saw or saved of it stays with them.`, "s_vxq3yk6fdzh2m5b7c4wl")
}
