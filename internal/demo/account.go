package demo

import "fmt"

// An account is all that is written, ready to be told month by month.
type account struct {
	seed     uint64
	span     span
	products []*product
	tellers  map[channel]teller
}

// A channel is an ad type in a market.
type channel struct {
	market *market
	adType adType
}

func newAccount(seed uint64, s span) *account {
	a := &account{seed: seed, span: s, products: catalogue(seed, s), tellers: map[channel]teller{}}
	for _, c := range channels() {
		a.tellers[c] = newTeller(newSetup(seed, c.market, c.adType, a.activity(c.adType)), a.products)
	}
	return a
}

func channels() []channel {
	var out []channel
	for _, m := range markets {
		for t := range adTypes {
			out = append(out, channel{m, adType(t)})
		}
	}
	return out
}

// jobs lists everything to write.
func (a *account) jobs() []job {
	jobs := []job{
		single("profiles.json", profiles),
		single("rates.csv", func() ([]byte, error) { return rates(a.seed, a.span), nil }),
		single("products.csv", func() ([]byte, error) { return products(a.products) }),
	}
	for _, e := range a.extracts() {
		jobs = append(jobs, func(p *press) ([]string, error) { return p.report(a, e) })
	}
	o := newOffice(a)
	jobs = append(jobs, o.records()...)
	for _, e := range o.exports() {
		jobs = append(jobs, func(p *press) ([]string, error) { return p.export(a.seed, e) })
	}
	return jobs
}

func single(name string, content func() ([]byte, error)) job {
	return func(p *press) ([]string, error) {
		b, err := content()
		if err != nil {
			return nil, err
		}
		return p.write(name, b)
	}
}

// An extract is one report to write.
type extract struct {
	channel
	span
	// earlier marks a first version that a later report, of the whole month,
	// restates.
	earlier bool
	// phantom is the day, if not 0, on which an earlier version has a product
	// that the later one took back.
	phantom day
}

func (e extract) stem() string {
	name := e.market.country + "-" + e.adType.slug() + "-"
	if !e.earlier {
		return name + e.first.String()[:len("2006-01")]
	}
	return fmt.Sprintf("%s%s-to-%s-earlier", name, e.first, e.last.String()[len("2006-01-"):])
}

// extracts lists the reports: one for each channel and month, and earlier
// versions of some weeks of the last two months.
func (a *account) extracts() []extract {
	var out []extract
	for _, c := range channels() {
		months := a.activity(c.adType).months()
		for i, m := range months {
			if i >= len(months)-2 {
				out = append(out, earlier(c, m)...)
			}
			out = append(out, extract{channel: c, span: m})
		}
	}
	return out
}

// activity is when an ad type is used: Sponsored Display from a third of the
// span on, which is a year of the usual three.
func (a *account) activity(t adType) span {
	if t != display {
		return a.span
	}
	return a.span.from(len(a.span.months()) / 3)
}

// earlier lists the first versions of the second and the fourth week of a
// month, as far as they ended before the month's own report does.
func earlier(c channel, month span) []extract {
	var out []extract
	for _, offset := range []day{7, 21} {
		week := span{month.first + offset, month.first + offset + 6}
		if week.last >= month.last {
			continue
		}
		e := extract{channel: c, span: week, earlier: true}
		if c == (channel{markets[0], sponsored}) && offset == 7 {
			e.phantom = week.first + 2
		}
		out = append(out, e)
	}
	return out
}

// scene sets a day as this report saw it.
func (e extract) scene(seed uint64, d day) *scene {
	s := e.market.scene(seed, e.adType, d)
	if e.earlier {
		s.late = max(0.45-0.05*float64(e.last-d), 0)
		s.phantom = d == e.phantom
	}
	return s
}
