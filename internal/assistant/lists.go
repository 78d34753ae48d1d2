package assistant

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"adlens"
	"adlens/internal/answer"
	"adlens/internal/query"

	"github.com/go-json-experiment/json/jsontext"
)

// listSize is how many rows of a list a page has.
const listSize = "15"

// longLists are columns whose lists are cut: a run may have thousands of changes.
var longLists = map[string]bool{"changes": true}

const maxListed = 3

// listTable returns the rows of a list with the members of objects as columns.
func listTable(said object, without []string) (t rowList, err error) {
	all, err := readList(said.values["data"])
	if err != nil {
		return t, err
	}
	t.Columns, t.Rows, t.TotalRows = []string{}, [][]jsontext.Value{}, len(all)
	for _, one := range all {
		o, err := readObject(one)
		if err != nil {
			return t, err
		}
		var row []jsontext.Value
		var columns []string
		for _, name := range o.names {
			if slices.Contains(without, name) {
				continue
			}
			columns, row = append(columns, name), append(row, shortValue(name, o.values[name]))
		}
		if len(t.Columns) == 0 {
			t.Columns = columns
		}
		t.Rows = append(t.Rows, row)
	}
	if pages, ok := said.values["pagination"]; ok {
		o, err := readObject(pages)
		if err != nil {
			return t, err
		}
		t.TotalRows, t.NextPage = wholeNumber(o.values["total_rows"]), wholeNumber(o.values["next_page"])
	}
	return t, nil
}

// shortValue returns a value fit for a row; of a long list the first few, and how many
// more there are.
func shortValue(name string, v jsontext.Value) jsontext.Value {
	if !longLists[name] || isNull(v) {
		return cleanMember(name, v)
	}
	all, err := readList(v)
	if err != nil {
		return jsontext.Value("null")
	}
	list := []byte{'['}
	for i, one := range all[:min(len(all), maxListed)] {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, cleanValue(one)...)
	}
	if more := len(all) - maxListed; more > 0 {
		list = fmt.Appendf(list, `,"and %d more: name rule_run_id for all"`, more)
	}
	return append(list, ']')
}

// listed is a result that is a page of a list.
type listed struct {
	AccountID string         `json:"account_id"`
	SyncedAt  jsontext.Value `json:"synced_at,omitzero" schema:"string?"`
	Syncing   jsontext.Value `json:"syncing,omitzero" schema:"boolean"`
	NotRead   string         `json:"not_read,omitzero"` // why no rows do not mean that there are none
	rowList
	Requests []string `json:"requests"`
}

// listedRuns is a result that may be runs of a rule.
type listedRuns struct {
	listed
	Which string `json:"runs_listed,omitzero"` // of all runs, and where to find others
}

func (c call) answerPage(r answer.Request, without ...string) (l listed, err error) {
	if r.Endpoint != answer.RuleRuns {
		r.Parameters = append(r.Parameters, answer.Parameter{Name: "page_size", Value: listSize})
	}
	said, address, err := c.ask(r)
	if err != nil {
		return l, err
	}
	l.AccountID, l.Requests = c.caller.Account.ID, []string{address}
	switch { // what follows from records that were never loaded
	case r.Endpoint == "campaigns" && c.moment.LacksRecords("activity"):
		without = append(without, "provenance")
	case r.Endpoint == "rules" && c.moment.LacksRecords(answer.RuleRuns):
		without = append(without, "last_run")
	}
	if l.rowList, err = listTable(said, without); err != nil {
		return l, err
	}
	if meta, err := readObject(said.values["meta"]); err == nil {
		l.SyncedAt, l.Syncing = meta.values["synced_at"], meta.values["syncing"]
		if l.SyncedAt != nil && isNull(l.SyncedAt) {
			l.NotRead = "this list was never read from the platform: what it has is not known, and is not nothing"
		}
	}
	if c.moment.LacksRecords(r.Endpoint) {
		l.NotRead = "no such records were loaded: if the service's records are not loaded here, that does not mean that there are none"
	}
	return l, nil
}

// listArguments says which arguments a kind of list takes, next to kind.
var listArguments = map[string][]string{
	"campaigns": {"marketplace", "states", "search", "page"},
	"ad_groups": {"marketplace", "campaign_id", "search", "page"},
	"rules":     {"page"},
	"rule_runs": {"rule_id", "rule_run_id", "page"},
}

func answerList(c call) (any, error) {
	kind := c.args.first("kind", "")
	for name := range c.args {
		if name != "kind" && !slices.Contains(listArguments[kind], name) {
			return nil, &argumentError{name + " is no argument of kind " + kind + ", which takes " + strings.Join(listArguments[kind], ", ")}
		}
	}
	switch kind {
	case "rules":
		return c.answerPage(answer.Request{Endpoint: "rules", Parameters: c.args.parameters("page")})
	case "rule_runs":
		rule := c.args.first("rule_id", "")
		if rule == "" {
			return nil, &argumentError{"rule_id is missing; expected an id that list with kind rules has"}
		}
		runs, err := c.answerRuns(rule)
		var missing *answer.NotFoundError
		if errors.As(err, &missing) {
			return nil, &argumentError{missing.Detail + "; expected an id that list with kind rules has"}
		}
		return runs, err
	}
	id, err := c.marketplaceID()
	if err != nil {
		return nil, err
	}
	params := append(c.args.parameters("campaign_id", "states", "search", "page"), answer.Parameter{Name: "marketplace_id", Value: id})
	return c.answerPage(answer.Request{Endpoint: strings.ReplaceAll(kind, "_", "-"), Parameters: params}, "marketplace_id")
}

// changesShown is how many changes of a run a page shows.
const changesShown = 30

// answerRuns lists the last runs of a rule, with a few changes of each, or all changes
// of one run in pages.
func (c call) answerRuns(rule string) (any, error) {
	r := answer.Request{Endpoint: answer.RuleRuns, RuleID: rule}
	run := c.args.first("rule_run_id", "")
	if run == "" {
		if c.args.first("page", "") != "" {
			return nil, &argumentError{fmt.Sprintf("page goes with rule_run_id: of a rule the last %d runs are listed", query.LastRuns)}
		}
		l, err := c.answerPage(r)
		if err != nil || l.NotRead != "" {
			return listedRuns{listed: l}, err
		}
		which := "all but tests; what was undone is in activity"
		if len(l.Rows) == query.LastRuns {
			oldest := textOf(l.Rows[len(l.Rows)-1][slices.Index(l.Columns, "started_at")])
			which = fmt.Sprintf("the last %d, from %.10s on; of older ones, and of what was undone, activity has a sentence and a count of changes", query.LastRuns, oldest)
		}
		return listedRuns{l, which}, nil
	}
	said, address, err := c.ask(r)
	if err != nil {
		return nil, err
	}
	all, err := readList(said.values["data"])
	if err != nil {
		return nil, err
	}
	for _, one := range all {
		o, err := readObject(one)
		if err != nil {
			return nil, err
		}
		if textOf(o.values["rule_run_id"]) != run {
			continue
		}
		t, err := listTable(object{values: map[string]jsontext.Value{"data": o.values["changes"]}}, nil)
		if err != nil {
			return nil, err
		}
		page, _ := strconv.Atoi(c.args.first("page", "1"))
		first := min((page-1)*changesShown, len(t.Rows))
		last := min(first+changesShown, len(t.Rows))
		if t.Rows = t.Rows[first:last]; last < t.TotalRows {
			t.NextPage = page + 1
		}
		return listed{AccountID: c.caller.Account.ID, rowList: t, Requests: []string{address}}, nil
	}
	return nil, &argumentError{"rule_run_id " + strconv.Quote(adlens.CleanText(run, maxText)) + " is none of the rule's last runs, which list with kind rule_runs has; of older ones activity has a sentence and a count of changes"}
}

// marketplaceID returns the id of the marketplace that the call names, which may be
// left out where there is one.
func (c call) marketplaceID() (string, error) {
	said, _, err := c.ask(answer.Request{Endpoint: "marketplaces"})
	if err != nil {
		return "", err
	}
	all, err := readList(said.values["data"])
	if err != nil {
		return "", err
	}
	wanted := c.args.first("marketplace", "")
	var found, known []string
	for _, one := range all {
		m, err := readObject(one)
		if err != nil {
			return "", err
		}
		id, country := textOf(m.values["marketplace_id"]), textOf(m.values["country_code"])
		known = append(known, country+" ("+id+")")
		if wanted == "" || isMarketplace(m, wanted) {
			found = append(found, id)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(known) == 0:
		return "", &argumentError{"the account has no marketplaces yet"}
	case wanted == "":
		return "", &argumentError{"marketplace is missing; expected one of " + strings.Join(known, ", ")}
	}
	return "", &argumentError{"marketplace is " + strconv.Quote(adlens.CleanText(wanted, maxText)) + "; expected one of " + strings.Join(known, ", ")}
}

func answerActivity(c call) (any, error) {
	return c.answerPage(answer.Request{Endpoint: "activity", Parameters: c.args.parameters("tool", "page")}, "activity_id")
}
