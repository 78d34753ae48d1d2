package assistant

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"adlens"
	"adlens/internal/answer"
	"adlens/internal/catalogue"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// resource is a text that a client may put next to a conversation.
type resource struct {
	address, name, title, words string
	read                        func(s *Server, ctx context.Context, extra *mcp.RequestExtra) (any, error)
}

var resources = []resource{
	{"adlens://formulas", "formulas", "Figures and their formulas", "What each figure means, how it is computed and which way is better; all further measures.",
		func(*Server, context.Context, *mcp.RequestExtra) (any, error) { return formulas(), nil }},
	{"adlens://freshness", "freshness", "How fresh the figures are", "First and last day held of each marketplace, and what is restated.", readFreshness},
}

func (s *Server) addResources() {
	for _, one := range resources {
		s.protocol.AddResource(&mcp.Resource{URI: one.address, Name: one.name, Title: one.title, Description: one.words, MIMEType: "application/json"},
			func(ctx context.Context, r *mcp.ReadResourceRequest) (result *mcp.ReadResourceResult, err error) {
				fail := func(cause error) error {
					return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: one.address + ": " + s.explainError(r.Extra, one.name, cause)}
				}
				defer catchPanic(func(caught error) { err = fail(caught) })
				said, err := one.read(s, ctx, r.Extra)
				if err != nil {
					return nil, fail(err)
				}
				body, err := json.Marshal(said)
				if err != nil {
					return nil, err
				}
				return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: one.address, MIMEType: "application/json", Text: string(body)}}}, nil
			})
	}
}

// formula is a figure as the catalogue has it.
type formula struct {
	Name    string `json:"name"`
	Label   string `json:"label"`
	Unit    string `json:"unit"`
	Formula string `json:"formula,omitzero"`
	Better  string `json:"better,omitzero"`
	Words   string `json:"meaning"`
}

func formulas() any {
	var all struct {
		Figures  []formula `json:"figures"`
		Further  []formula `json:"further_measures"`
		Rounding string    `json:"rounding"`
	}
	for i, f := range catalogue.ReportFigures {
		unit := string(f.Unit)
		if f.Unit == catalogue.USD {
			unit = amount
		}
		one := formula{f.Name, f.Label, unit, f.Formula(), map[catalogue.Better]string{catalogue.Less: "lower", catalogue.More: "higher"}[f.Better], f.Words}
		if i < len(catalogue.Figures) {
			all.Figures = append(all.Figures, one)
		} else {
			all.Further = append(all.Further, one)
		}
	}
	all.Rounding = "Ratios are made of exact sums and rounded last, half away from zero, to two decimals; null where the denominator is zero. The contributions of explain_change are of sums as they are shown; those to a ratio's change have four decimals and add up to divided_change, which rounds to its change. Percentages are percent: 28.22 is 28.22 %. A quotient as spend/impressions is of sums as they are shown; below 1 it and its change have four digits from the first that is not 0."
	return all
}

// restated says what of the past still changes (platform facts, 3.4).
const restated = "Sales are credited to the day of the click, and clicks and spend corrected: a day's figures can change, up or down, for about 60 days, most within 14."

// reread says when changes are seen, in accounts that are connected to the platform.
const reread = " Of an account that is connected to the platform the last 14 days are read each day, and the last 60 each week."

func readFreshness(s *Server, ctx context.Context, extra *mcp.RequestExtra) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, answer.Timeout)
	defer cancel()
	caller, err := s.Admit(ctx, extra)
	if err != nil {
		return nil, err
	}
	c, err := s.newCall(ctx, caller, nil)
	if err != nil {
		return nil, err
	}
	defer c.held.release()
	said, address, err := c.ask(answer.Request{Endpoint: "marketplaces"})
	if err != nil {
		return nil, err
	}
	t, err := listTable(said, []string{"counts", "name"})
	if err != nil {
		return nil, err
	}
	incomplete, missing, err := incompleteOf(said)
	if err != nil {
		return nil, err
	}
	if incomplete, err = withMissing(incomplete, missing); err != nil {
		return nil, err
	}
	return struct {
		AccountID  string             `json:"account_id"`
		Columns    []string           `json:"columns"`
		Rows       [][]jsontext.Value `json:"rows"`
		Incomplete jsontext.Value     `json:"incomplete,omitzero"`
		Restated   string             `json:"restated"`
		Requests   []string           `json:"requests"`
	}{caller.Account.ID, t.Columns, t.Rows, incomplete, restated + reread, []string{address}}, nil
}

// prompt is a question that people pick from a menu.
type prompt struct {
	name, title, words string
	arguments          []*mcp.PromptArgument
	period             string // where the argument range names none
	text               string // with the period's days, as far as they are held, in the place of {start} and {end}, and {account}
}

// leaveBehind is what prompts say of explain_change.
const leaveBehind = " Where why_not_divided is there, call explain_change again with what it says to send, and say what its numbers leave out or which days they are of."

var prompts = []prompt{
	{"weekly_review", "Weekly review", "What happened in the last seven whole days, against the seven before.", nil, "last_7_days",
		"Review the advertising of {account} from {start} to {end}, seven whole days. In every call send start_date {start}, end_date {end} and compare previous_period: figures; explain_change for spend, sales and acos; rank by spend, and by acos with order desc, without dimensions." + leaveBehind + " Then say in ten lines: the result against the week before, what made the difference, the best and the worst campaigns, and what to look at. Use the numbers of the results as they are, say which days they cover, and that the last days can still change."},
	{"why_did_acos_change", "Why did ACOS change?", "Splits a change of ACOS into its causes.", []*mcp.PromptArgument{{Name: "range", Description: "a period like last_30_days (default) or this_month"}}, "last_30_days",
		"Why did the ACOS of {account} change? Call explain_change with figure acos, start_date {start}, end_date {end} and compare previous_period." + leaveBehind + " Say how much it changed, which of cost per click, conversion and order value did that, and which marketplaces, campaigns and products, with their contributions as the result has them. If the period has days of the last 60, say that they can still change, most within 14."},
}

func (s *Server) addPrompts() {
	for _, one := range prompts {
		s.protocol.AddPrompt(&mcp.Prompt{Name: one.name, Title: one.title, Description: one.words, Arguments: one.arguments},
			func(ctx context.Context, r *mcp.GetPromptRequest) (result *mcp.GetPromptResult, err error) {
				fail := func(cause error) error {
					return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: one.name + ": " + s.explainError(r.Extra, one.name, cause)}
				}
				defer catchPanic(func(caught error) { err = fail(caught) })
				wrong := func(cause error) error {
					return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: cause.Error()}
				}
				period, err := one.readPeriod(r.Params.Arguments)
				if err != nil {
					return nil, wrong(err)
				}
				start, end, err := s.wholeDays(ctx, r.Extra, period)
				var refused *argumentError
				if errors.As(err, &refused) {
					return nil, wrong(err)
				} else if err != nil {
					return nil, fail(err)
				}
				text := strings.NewReplacer("{account}", describeAccount(s.Account(ctx, r.Extra)), "{start}", start.String(), "{end}", end.String()).Replace(one.text)
				return &mcp.GetPromptResult{Description: one.words, Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}}}, nil
			})
	}
}

// wholeDays returns the days of a range that have ended in UTC and are held of all that
// goes on. Ranges of so many days, as last_7_days, have as many: they end earlier.
func (s *Server) wholeDays(ctx context.Context, extra *mcp.RequestExtra, name string) (start, end adlens.Day, err error) {
	ctx, cancel := context.WithTimeout(ctx, answer.Timeout)
	defer cancel()
	caller, err := s.Admit(ctx, extra)
	if err != nil {
		return 0, 0, err
	}
	c, err := s.newCall(ctx, caller, arguments{"range": {name}})
	if err != nil {
		return 0, 0, err
	}
	defer c.held.release()
	r, err := c.readReport(nil, []string{"clicks"})
	if err != nil {
		return 0, 0, err
	}
	if start, end, err = daysOf(r.Period); err != nil {
		return 0, 0, err
	}
	last, err := c.moment.LastEnded("UTC")
	if err != nil {
		return 0, 0, err
	}
	last = c.lastHeldTogether(last)
	if strings.HasSuffix(name, "_days") {
		start -= max(0, end-last)
	}
	if end = min(end, last); end < start {
		return 0, 0, &argumentError{fmt.Sprintf("range is %q, of which no whole day is held of all marketplaces and ad products that go on; the last such day is %s at the latest", name, last)}
	}
	return start, end, nil
}

// promptRanges are those of the API that a prompt can write as dates: today is no whole
// day, and all time may be longer than a period of dates can be.
var promptRanges = slices.DeleteFunc(slices.Clone(catalogue.Ranges), func(name string) bool { return name == "today" || name == "all_time" })

// readPeriod returns the range that the arguments name, or the prompt's own.
func (p prompt) readPeriod(given map[string]string) (string, error) {
	for name := range given {
		if !slices.ContainsFunc(p.arguments, func(a *mcp.PromptArgument) bool { return a.Name == name }) {
			return "", fmt.Errorf("%q is no argument of %s", adlens.CleanText(name, maxText), p.name)
		}
	}
	value := cmp.Or(given["range"], p.period)
	if !slices.Contains(promptRanges, value) {
		return "", fmt.Errorf("range is %q; expected one of %s", adlens.CleanText(value, maxText), strings.Join(promptRanges, ", "))
	}
	return value, nil
}
