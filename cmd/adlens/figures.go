package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"adlens/internal/answer"
	"adlens/internal/auth"
	"adlens/internal/query"

	"github.com/spf13/cobra"
)

// figureFormats are what figures can be printed as: a table, or what the API answers.
var figureFormats = []string{answer.Table, query.CSV, query.JSON, query.NDJSON, query.XLSX, query.Parquet}

func newFigures(o *options) *cobra.Command {
	var account, format string
	cmd := &cobra.Command{
		Use:   "figures --account ID [REQUEST] [NAME=VALUE...]",
		Short: "Print a summary or a report of an account",
		Long: `Print what the API answers about an account, without a key: it is for the owner
of the data directory, and counts against no limit. Nothing has to be served, and
a running server is not in the way.

A request is summary, timeline, report, reports/products or another one of the
API; what follows are its parameters as in docs/api.md, each as NAME=VALUE. It can
also be what follows /api/v1 in an address. Without one it is summary, or report
where dimensions or figures are chosen.

At a terminal it is a table: thousands are grouped, long texts cut, the totals of
all pages come last, and headers=labels gives its columns readable names. Elsewhere
it is CSV. --format names another one: what it prints then is what the API answers,
byte for byte. --json is --format json.`,
		Example: `  adlens figures --account acme
  adlens figures --account acme range=last_month dimensions=marketplace,month
  adlens figures --account acme dimensions=month figures=spend,acos range=this_year
  adlens figures --account acme '/reports/products?range=last_30_days&page_size=10'
  adlens figures --account acme dimensions=product page_size=all --format xlsx > all.xlsx`,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return figureRequests(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			request, err := readFigures(args)
			if err != nil {
				return err
			}
			_, terminal := terminalOf(cmd.OutOrStdout())
			chosen, err := o.figuresFormat(cmd, format, request, terminal)
			if err != nil {
				return err
			}
			if err := o.requireDataDir(); err != nil {
				return err
			}
			return o.withInspectedDatabase(cmd.Context(), account, func(d *data) error { return d.printFigures(cmd, account, request, chosen) })
		},
	}
	cmd.Flags().StringVar(&account, "account", "", "the account (needed)")
	cmd.Flags().StringVar(&format, "format", "", strings.Join(figureFormats, ", ")+"; a table at a terminal and csv elsewhere where empty")
	cmd.MarkFlagRequired("account")
	must(cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(figureFormats, cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

// readFigures reads the arguments of a request.
func readFigures(args []string) (answer.Request, error) {
	path, named := "summary", false
	if len(args) > 0 {
		before, _, _ := strings.Cut(args[0], "=")
		if named = !strings.Contains(args[0], "=") || strings.Contains(before, "?"); named {
			path, args = strings.TrimPrefix(strings.TrimPrefix(args[0], answer.APIPath), "/"), args[1:]
		}
	}
	var sent []answer.Parameter
	for _, arg := range args {
		name, value, ok := strings.Cut(arg, "=")
		if !ok || name == "" {
			return answer.Request{}, fmt.Errorf("%q is no parameter; expected NAME=VALUE, like range=last_30_days", arg)
		}
		if !named && (name == "dimensions" || name == "figures") {
			path = "report"
		}
		sent = append(sent, answer.Parameter{Name: name, Value: value})
	}
	request, err := answer.ReadAddress(answer.APIPath + "/" + path)
	switch {
	case err != nil && strings.Contains(path, "#"):
		return request, err
	case err != nil:
		return request, fmt.Errorf("%q is no request; expected %s, or rules/RULE_ID/runs", path, strings.Join(figureRequests(), ", "))
	}
	request.Parameters = append(request.Parameters, sent...)
	return request, nil
}

// figureRequests are the names of requests that can be printed.
func figureRequests() []string {
	return slices.DeleteFunc(answer.Endpoints(), func(name string) bool { return name == answer.Account || name == answer.RuleRuns })
}

// figuresFormat returns the format that the flags, the request or the place of
// printing choose. One that the command line names wins over those of variables.
func (o *options) figuresFormat(cmd *cobra.Command, flag string, r answer.Request, terminal bool) (string, error) {
	if flag != "" && !slices.Contains(figureFormats, flag) {
		return "", fmt.Errorf("--format is %q; expected %s", flag, strings.Join(figureFormats, ", "))
	}
	inRequest := slices.IndexFunc(r.Parameters, func(p answer.Parameter) bool { return p.Name == "format" })
	format, asJSON := flag, o.json
	flagOnLine, jsonOnLine := isOnLine(cmd.Flag("format")), asJSON && isOnLine(cmd.Flag("json"))
	if flagOnLine || jsonOnLine || inRequest >= 0 {
		asJSON = jsonOnLine
		if !flagOnLine {
			format = ""
		}
	}
	if asJSON {
		if format != "" && format != query.JSON {
			return "", fmt.Errorf("--json and --format %s are both given; expected one of them", format)
		}
		format = query.JSON
	}
	if inRequest >= 0 {
		if format != "" {
			return "", fmt.Errorf("the parameter format=%s and a flag both name a format; expected one of them", r.Parameters[inRequest].Value)
		}
		format = r.Parameters[inRequest].Value
	}
	switch {
	case format == answer.Table, format == "" && terminal:
		return answer.Table, refuseForTable(r)
	case format == "":
		return query.CSV, nil
	case terminal && (format == query.XLSX || format == query.Parquet):
		return "", fmt.Errorf("%s cannot be read at a terminal; write it to a file: adlens figures ... > figures.%s", format, format)
	}
	return format, nil
}

// refuseForTable refuses parameters that a table has no place for, of which CSV has one.
func refuseForTable(r answer.Request) error {
	for _, p := range r.Parameters {
		if p.Name == "separator" || p.Name == "decimal" {
			return fmt.Errorf("%s=%s is for csv, and this is a table; add --format csv, or leave %s out", p.Name, answer.Printable(p.Value), p.Name)
		}
	}
	return nil
}

// printFigures answers a request as the API does, and prints the answer.
func (d *data) printFigures(cmd *cobra.Command, account string, r answer.Request, format string) error {
	ctx := cmd.Context()
	known, err := d.requireAccount(ctx, account)
	if err != nil {
		return err
	}
	r.Format = format
	if format == answer.Table {
		r.Format = query.CSV // whose columns, headers and pages a table has
	}
	answers := d.newAnswers()
	question, err := answers.Ask(ctx, auth.Caller{Account: known}, r)
	if err != nil {
		return err
	}
	defer question.Close()
	write := question.Answer
	if format == answer.Table {
		write = question.Text
	}
	a, err := write(ctx)
	if err != nil {
		return err
	}
	if err := printAnswer(cmd.OutOrStdout(), a); err != nil || a.Pages == nil || format == query.JSON && !a.Pages.Truncated { // which says it itself
		return err
	}
	return printPages(cmd.ErrOrStderr(), r.Endpoint, *a.Pages)
}

// printPages tells of rows on other pages. Rows that are on none are an error: who asked
// for all of them does not have them.
func printPages(w io.Writer, endpoint string, p answer.Pages) (err error) {
	if p.Truncated {
		return fmt.Errorf("%d of %d rows were printed, as many as page_size=%s has; ask for less (filters, or a shorter period), or print one page after another, with a number as page_size and page=1, page=2 and so on",
			query.MaxRows, p.Rows, answer.AllRows)
	}
	if next, ok := p.NextPage(p.Rows); ok {
		all := ""
		if answer.LargestPage(endpoint) == answer.AllRows && p.Rows <= query.MaxRows {
			all = ", and page_size=" + answer.AllRows + " prints all of them"
		}
		_, err = fmt.Fprintf(w, "page %d of %d, of %d rows; page=%d is the next%s\n", p.Page, p.TotalPages(p.Rows), p.Rows, next, all)
	}
	return err
}

// printAnswer writes an answer as it is. At a terminal nothing in it controls that.
func printAnswer(w io.Writer, a *answer.Answer) error {
	if s, real := w.(screen); real {
		if _, terminal := terminalOf(w); !terminal {
			w = s.file
		}
	}
	n, err := w.Write(a.Body)
	if err == nil && n < len(a.Body) {
		err = errors.New("the output took only a part of the answer")
	}
	return err
}
