package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"adlens"
	"adlens/internal/answer"
	"adlens/internal/assistant"
	"adlens/internal/auth"
	adhttp "adlens/internal/http"
	"adlens/internal/query"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"
	"go.uber.org/zap"
)

func newMCP(o *options) *cobra.Command {
	var account string
	so := &serveOptions{}
	cmd := &cobra.Command{
		Use:   "mcp --account ID",
		Short: "Answer an assistant on this machine about an account",
		Long: `Answer an assistant on this machine about an account, by the Model Context
Protocol over standard input and output. It is for the owner of the data
directory: no key or consent is needed. The assistant only reads.

An assistant starts it by itself, and each entry of its configuration reads one
account: give each a name of its own. For Claude Desktop, Cursor, Windsurf and
others whose configuration has "mcpServers", here with two accounts:

  {"mcpServers": {
    "adlens-acme": {"command": "/usr/local/bin/adlens",
      "args": ["mcp", "--account", "acme", "--data-dir", "/home/me/adlens-data"]},
    "adlens-globex": {"command": "/usr/local/bin/adlens",
      "args": ["mcp", "--account", "globex", "--data-dir", "/home/me/adlens-data"]}}}

For VS Code (.vscode/mcp.json):

  {"servers": {"adlens-acme": {"type": "stdio", "command": "/usr/local/bin/adlens",
    "args": ["mcp", "--account", "acme", "--data-dir", "/home/me/adlens-data"]}}}

For Claude Code and Codex, on a command line:

  claude mcp add adlens-acme -- /usr/local/bin/adlens mcp --account acme \
    --data-dir /home/me/adlens-data
  codex mcp add adlens-acme -- /usr/local/bin/adlens mcp --account acme \
    --data-dir /home/me/adlens-data

Paths have to be absolute: an assistant starts programs in a directory of its
own. An assistant elsewhere connects to /mcp of adlens serve instead, with the
code that adlens app invite prints.

Calls count against the account's limits, 30 in a minute at most; where adlens
serve runs on the same data directory and database, it counts them.`,
		Example: `  adlens mcp --account acme --data-dir /home/me/adlens-data`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := so.checkLimits(); err != nil {
				return err
			}
			if err := o.requireDataDir(); err != nil {
				return err
			}
			return o.withInspectedDatabase(cmd.Context(), account, func(d *data) error {
				known, err := d.requireAccount(cmd.Context(), account)
				if err != nil {
					return err
				}
				return o.answerOwner(cmd, d, *so, known)
			})
		},
	}
	cmd.Flags().StringVar(&account, "account", "", "the account that is read (needed)")
	so.addLimitFlags(cmd)
	cmd.MarkFlagRequired("account")
	return cmd
}

// answerOwner speaks the protocol over the standard streams until the assistant ends
// it. Only the protocol is written to standard output.
func (o *options) answerOwner(cmd *cobra.Command, d *data, so serveOptions, account adlens.Account) error {
	ctx, log := cmd.Context(), zap.NewNop()
	limits, err := d.newLimits(ctx, so, log)
	if err != nil {
		return err
	}
	background, stop := context.WithCancel(context.Background())
	counted := make(chan struct{})
	go func() { defer close(counted); limits.keepReservations(background) }()
	defer func() { stop(); <-counted }()
	admission := auth.NewAdmission(auth.NewAuthenticator(d.Keys), auth.NewAuthenticator(d.Feeds), limits, auth.NewUsage(), d.Accounts)
	admission.AdmitApps(nil, so.limitMinute)
	admission.Trust(d.DirectoryMark)
	app := adhttp.OwnersApp(account.ID)
	figures := query.NewService(d.Figures, d.Lists)
	so.fitMemory()
	if so.memory > 0 {
		figures.Remember(d.Figures, so.memory)
	}
	answers := answer.New(answer.Config{Figures: figures, Connections: d.Connections, Apps: d.Apps, Lists: idle{}, Cache: 16 << 20, Memory: machineMemory() / answerShare, Now: time.Now,
		Warn: func(string, error) {}})
	d.answering.Store(answers)
	tools := assistant.New(assistant.Config{
		Answers: answers,
		Admit: func(ctx context.Context, _ *mcp.RequestExtra) (auth.Caller, error) {
			if running, err := o.askServer(ctx, d, account.ID); err != nil {
				return auth.Caller{}, err
			} else if running {
				return admission.AdmitCounted(ctx, app, time.Now())
			}
			return admission.AdmitApp(ctx, app, time.Now())
		},
		Account: func(context.Context, *mcp.RequestExtra) adlens.Account { return account },
		Version: version, Now: time.Now,
		Failed: func(_ *mcp.RequestExtra, tool string, err error) {
			fmt.Fprintf(cmd.ErrOrStderr(), "adlens: %s: %v\n", tool, err)
		},
	})
	err = tools.Protocol().Run(ctx, assistant.Stdio(cmd.InOrStdin(), cmd.OutOrStdout()))
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// ownerFile says where the server of a data directory counts calls of adlens mcp. Only
// a user who can read the directory can read it.
type ownerFile struct {
	Address string `json:"address"`
	Token   string `json:"token"`
	Public  string `json:"public_url,omitempty"` // as clients elsewhere see it
	// Database is the identity of what it serves: commands with --clickhouse may use the
	// directory for another one.
	Database string `json:"database"`
}

func (o *options) ownerPath() string { return filepath.Join(o.dataDir, "serve.json") }

// ownerOf is what a server of a database that listens at an address writes.
func ownerOf(address net.Addr, token, public, database string) ownerFile {
	host, port, err := net.SplitHostPort(address.String())
	if err != nil {
		return ownerFile{"http://" + address.String(), token, public, database}
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return ownerFile{"http://" + net.JoinHostPort(host, port), token, public, database}
}

// writeOwnerFile says that a server answers at an address, until removeOwnerFile.
func (o *options) writeOwnerFile(own ownerFile) error {
	body, err := json.Marshal(own)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.dataDir, 0o700); err != nil {
		return err
	}
	temporary := o.ownerPath() + ".new"
	if err := os.WriteFile(temporary, body, 0o600); err != nil {
		return err
	}
	return os.Rename(temporary, o.ownerPath())
}

// claimOwnerFile writes the file again where it is missing, or names a server that has
// ended: of several servers of a data directory, the last one that started wrote it, and
// one of the others counts when that ends.
func (o *options) claimOwnerFile(own ownerFile) error {
	owner, ok := o.readOwnerFile()
	if ok && (owner == own || owner.Address != own.Address && owner.isAnswered()) {
		return nil
	}
	return o.writeOwnerFile(own)
}

// isAnswered reports whether something listens at the address.
func (f ownerFile) isAnswered() bool {
	connection, err := net.DialTimeout("tcp", strings.TrimPrefix(f.Address, "http://"), time.Second)
	if err != nil {
		return false
	}
	connection.Close()
	return true
}

// removeOwnerFile removes what a server wrote, unless another one has replaced it.
func (o *options) removeOwnerFile(token string) {
	if owner, ok := o.readOwnerFile(); ok && owner.Token == token {
		os.Remove(o.ownerPath())
	}
}

// readOwnerFile returns where a server of the data directory answers; ok is false where
// none has said so.
func (o *options) readOwnerFile() (owner ownerFile, ok bool) {
	text, err := os.ReadFile(o.ownerPath())
	return owner, err == nil && json.Unmarshal(text, &owner) == nil
}

// findOwner returns where a server of the data directory answers from the same database.
func (o *options) findOwner(d *data) (owner ownerFile, ok bool) {
	owner, ok = o.readOwnerFile()
	return owner, ok && owner.Database == d.Cluster.Identity()
}

// askServer has the server of the data directory and the database count a call. running
// is false where there is none.
func (o *options) askServer(ctx context.Context, d *data, account string) (running bool, err error) {
	owner, ok := o.findOwner(d)
	if !ok {
		return false, nil
	}
	return adhttp.CountOwnersCall(ctx, owner.Address, owner.Token, account)
}
