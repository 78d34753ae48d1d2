package docs

import (
	"fmt"
	"time"

	"adlens"
	"adlens/internal/catalogue"
	"adlens/internal/query/period"
)

// periodsPage says which days each named period has today.
type periodsPage struct {
	Zone    string
	Today   string
	Unknown string // a zone that was requested and is none
	Zones   []string
	Rows    []periodRow
}

type periodRow struct {
	Name, Meaning  string
	Start, End     string // "" where the account decides
	Days           int
	IncludesToday  bool
	AccountDecides bool
}

// meanings say what each named period is.
var meanings = map[period.Name]string{
	period.Today:      "today alone, as far as there are figures",
	period.Yesterday:  "yesterday alone",
	period.Last7Days:  "7 days, the last of them today",
	period.Last14Days: "14 days, the last of them today",
	period.Last30Days: "30 days, the last of them today; the default",
	period.Last60Days: "60 days, the last of them today",
	period.Last90Days: "90 days, the last of them today",
	period.ThisMonth:  "from the first of this month to today",
	period.LastMonth:  "the whole calendar month before this one",
	period.ThisYear:   "from 1 January to today",
	period.LastYear:   "the whole calendar year before this one",
	period.AllTime:    "from the account's oldest day with data to today",
}

// periodsOf resolves the named periods at an instant. Where the zone is none,
// they are those of UTC.
func periodsOf(now time.Time, name string) periodsPage {
	page := periodsPage{Zone: name, Zones: period.ZoneNames()}
	zone, err := period.Zone(name)
	if err != nil {
		page.Unknown, page.Zone, zone = name, "UTC", time.UTC
	}
	today := period.DayIn(zone, now)
	page.Today = today.String()
	for _, name := range catalogue.Ranges {
		page.Rows = append(page.Rows, rowOf(period.Name(name), today))
	}
	return page
}

func rowOf(name period.Name, today adlens.Day) periodRow {
	p := period.Resolve(name, today, today, false)
	row := periodRow{Name: string(name), Meaning: meanings[name], IncludesToday: p.End == today}
	if name == period.AllTime {
		row.AccountDecides, row.End = true, p.End.String()
		return row
	}
	row.Start, row.End, row.Days = p.Start.String(), p.End.String(), p.Days()
	return row
}

// Span says how long a period is.
func (r periodRow) Span() string {
	switch {
	case r.AccountDecides:
		return "as long as data are held"
	case r.Days == 1:
		return "1 day"
	}
	return fmt.Sprintf("%d days", r.Days)
}
