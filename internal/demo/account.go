package demo

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"adlens"
	"adlens/internal/made"
	"adlens/internal/platform"
)

// An account is all that is written, ready to be told month by month. Its
// rules follow from the seed and the day, as its figures do.
type account struct {
	seed     uint64
	span     span       // of the figures
	today    adlens.Day // the day after them
	products []*product
	channels []*channel
	rules    []*rule
}

func newAccount(seed uint64, s span) *account {
	a := &account{seed: seed, span: s, today: s.last + 1, products: makeProducts(seed, s)}
	for _, m := range markets {
		for _, p := range adlens.AdProducts {
			a.channels = append(a.channels, newChannel(seed, m, p, s, a.products))
		}
	}
	for i := range rulebook {
		a.rules = append(a.rules, newRule(a, &rulebook[i], i))
	}
	return a
}

// findChannel returns the channel of an ad product in a market.
func (a *account) findChannel(m *market, p adlens.AdProduct) *channel {
	for _, c := range a.channels {
		if c.market == m && c.adProduct == p {
			return c
		}
	}
	panic("demo: no channel")
}

// listCampaigns lists all of a market.
func (a *account) listCampaigns(m *market) []*campaign {
	var out []*campaign
	for _, p := range adlens.AdProducts {
		out = append(out, a.findChannel(m, p).campaigns...)
	}
	return out
}

// listJobs lists everything to write.
func (a *account) listJobs() []job {
	jobs := []job{
		func(w *made.Writer) ([]string, error) {
			return singlePath(w.WriteJSON(made.ProfilesFile, accountProfiles()))
		},
		fileJob(made.RatesFile, func() ([]byte, error) { return ratesCSV(a.seed, a.span), nil }),
		fileJob(made.TitlesFile, func() ([]byte, error) { return titlesCSV(a.products) }),
		fileJob(made.RulesFile, func() ([]byte, error) { return made.Lines(a.ruleRecords()) }),
		fileJob(made.RunsFile, func() ([]byte, error) { return made.Lines(a.listRuns()) }),
		fileJob(made.ActivityFile, func() ([]byte, error) { return made.Lines(a.listEntries()) }),
	}
	for _, e := range a.listExtracts() {
		jobs = append(jobs, e.writeExtract)
	}
	for _, m := range markets {
		for entity, rows := range map[platform.Entity]func(*market) any{
			platform.Campaigns: a.campaignRows, platform.AdGroups: a.groupRows, platform.Ads: a.adRows,
		} {
			jobs = append(jobs, func(w *made.Writer) ([]string, error) { return a.writeExport(w, m, entity, rows(m)) })
		}
	}
	return jobs
}

func fileJob(name string, content func() ([]byte, error)) job {
	return func(w *made.Writer) ([]string, error) {
		b, err := content()
		if err != nil {
			return nil, err
		}
		return singlePath(w.WriteFile(name, b))
	}
}

func singlePath(path string, err error) ([]string, error) { return []string{path}, err }

// An extract is one report to write.
type extract struct {
	*channel
	span
	// earlier marks a first version that a later report, of the whole month,
	// restates.
	earlier bool
	// phantom is the day, if not 0, on which an earlier version has a product
	// that the later one took back.
	phantom adlens.Day
}

func (e extract) fileStem() string {
	name := e.market.country + "-" + e.adProductSlug() + "-"
	if !e.earlier {
		return name + e.first.String()[:len("2006-01")]
	}
	return fmt.Sprintf("%s%s-to-%s-earlier", name, e.first, e.last.String()[len("2006-01-"):])
}

// listExtracts lists the reports: one for each channel and month, and earlier
// versions of some weeks of the last two months.
func (a *account) listExtracts() []extract {
	var out []extract
	for _, c := range a.channels {
		months := c.active.splitMonths()
		for i, m := range months {
			if i >= len(months)-2 {
				out = append(out, c.earlierWeeks(m)...)
			}
			out = append(out, extract{channel: c, span: m})
		}
	}
	return out
}

// earlierWeeks lists the first versions of the second and the fourth week of a
// month, as far as they ended before the month's own report does.
func (c *channel) earlierWeeks(month span) []extract {
	var out []extract
	for _, offset := range []adlens.Day{7, 21} {
		week := span{month.first + offset, month.first + offset + 6}
		if week.last >= month.last {
			continue
		}
		e := extract{channel: c, span: week, earlier: true}
		if c.market == markets[0] && c.adProduct == adlens.SponsoredProducts && offset == 7 {
			e.phantom = week.first + 2
		}
		out = append(out, e)
	}
	return out
}

func (e extract) writeExtract(w *made.Writer) ([]string, error) {
	pair, err := w.WritePair(filepath.Join(reportsDir, e.fileStem()), made.ReportEnd,
		func(to io.Writer) error { return e.writeDownload(&w.Rows, to) }, e.reportObject)
	return pair.Files(), err
}

// writeDownload writes the rows of an extract, day by day.
func (e extract) writeDownload(rows *made.Rows, w io.Writer) error {
	rows.Open()
	for d := e.first; d <= e.last; d++ {
		if lacksFigures(e.seed, e.market, e.adProduct, d) {
			continue
		}
		e.writeDay(rows, e.sceneOn(d))
		if err := rows.Flush(w); err != nil {
			return err
		}
	}
	_, err := rows.Close(w)
	return err
}

// sceneOn sets a day as this report saw it.
func (e extract) sceneOn(d adlens.Day) *scene {
	s := newScene(e.channel, d)
	if e.earlier {
		s.late = max(0.45-0.05*float64(e.last-d), 0)
		s.phantom = d == e.phantom
	}
	return s
}

// reportObject describes an extract whose download has that many bytes. Like the
// figures, its id and times follow from the seed and the days alone.
func (e extract) reportObject(size int) any {
	r := newStream(e.seed, "report", e.fileStem(), e.last.String())
	// The report is requested once the profile's own day has surely ended, and
	// is ready some minutes later.
	ended := (e.last + 1).Time().Add(time.Duration(e.market.dayEnds) * time.Hour)
	created := ended.Add(time.Hour + time.Duration(r.IntN(90*60_000))*time.Millisecond)
	generated := created.Add(2*time.Minute + time.Duration(r.IntN(25*60_000))*time.Millisecond)
	id := made.UUID(r.Uint64(), r.Uint64())
	o := made.NewReport(id, made.ReportTypeOf(e.adProduct), e.columnNames(), e.first, e.last, created, generated)
	o.ProfileID, o.Name, o.FileSize = json.Number(e.market.profileID), e.fileStem(), size
	return o
}

// columnNames names what the rows have.
func (e extract) columnNames() []string {
	var rows made.Rows
	group := &adGroup{campaign: &campaign{market: e.market, adProduct: e.adProduct, name: "null"}, name: "null"}
	(&row{date: "null", ad: &ad{asin: "null", sku: "null", aim: "null", costType: "null"}, at: &listing{group: group}}).writeRow(&rows)
	var out []string
	d := json.NewDecoder(strings.NewReader(string(rows.Text)))
	for i := 0; ; i++ {
		token, err := d.Token()
		if err != nil {
			return out
		}
		if name, ok := token.(string); ok && i%2 == 1 {
			out = append(out, name)
		}
	}
}
