package assistant

import (
	"errors"
	"slices"
	"strings"

	"adlens"

	"github.com/go-json-experiment/json/jsontext"
)

// frame is what every result of figures says of itself.
type frame struct {
	Period         jsontext.Value `json:"period" schema:"object"`
	ComparedWith   jsontext.Value `json:"compared_with,omitzero" schema:"object"`
	Currency       jsontext.Value `json:"currency" schema:"string?"`
	DataLastDate   jsontext.Value `json:"data_last_date" schema:"string?"`
	HistoryCovered jsontext.Value `json:"history_covered" schema:"boolean"`
	// HeldFrom is the first day held, where days of the period are before it.
	HeldFrom string `json:"held_from,omitzero"`
	// ComparedHistoryCovered is false where days of the earlier period are not held:
	// its figures are null then, and not what is there of them.
	ComparedHistoryCovered jsontext.Value `json:"compared_history_covered,omitzero" schema:"boolean"`
	// NotHeldFrom is the first day of the period that has ended and is after the newest
	// one held: the sums lack it and all days after it. Of nothing held it is left out.
	NotHeldFrom string `json:"not_held_from,omitzero"`
	// Behind are the marketplaces, and in others the ad products, that end before the
	// period and the account do, with their last day.
	Behind     [][]jsontext.Value `json:"behind,omitzero"`
	Incomplete jsontext.Value     `json:"incomplete,omitzero" schema:"array"`
	Cut        bool               `json:"rows_were_cut,omitzero"` // more rows than the API answers at all
	Requests   []string           `json:"requests"`
}

// cuts are the first days of weeks or months of which days are beyond a period, or the
// oldest and newest day held: a smaller sum is no fall there, and a larger one than that of some
// days no rise.
type cuts struct {
	Partial         []string `json:"partial,omitzero"`
	ComparedPartial []string `json:"compared_partial,omitzero"` // of the earlier period
}

// cuts returns those of both periods; oldest is the first day held.
func (f *frame) cuts(dimensions []string, oldest adlens.Day) (c cuts, err error) {
	if c.Partial, err = f.partial(f.Period, dimensions, oldest); err == nil && f.ComparedWith != nil {
		c.ComparedPartial, err = f.partial(f.ComparedWith, dimensions, oldest)
	}
	return c, err
}

// partial returns those of one period.
func (f *frame) partial(period jsontext.Value, dimensions []string, oldest adlens.Day) (all []string, err error) {
	first, last := adlens.Day.FirstOfWeek, func(d adlens.Day) adlens.Day { return d.FirstOfWeek() + 6 }
	switch {
	case slices.Contains(dimensions, "month"):
		first, last = adlens.Day.FirstOfMonth, adlens.Day.LastOfMonth
	case !slices.Contains(dimensions, "week"):
		return nil, nil
	}
	start, end, err := daysOf(period)
	if err != nil {
		return nil, err
	}
	start = max(start, oldest)
	if held, err := adlens.ParseDay(textOf(f.DataLastDate)); err == nil {
		end = min(end, held)
	}
	if end < start {
		return nil, nil
	}
	if start != first(start) {
		all = append(all, first(start).String())
	}
	if end != last(end) && (len(all) == 0 || first(end) != first(start)) {
		all = append(all, first(end).String())
	}
	return all, nil
}

// daysOf returns the first and last day of a period.
func daysOf(period jsontext.Value) (start, end adlens.Day, err error) {
	o, err := readObject(period)
	if err != nil {
		return 0, 0, err
	}
	start, errStart := adlens.ParseDay(textOf(o.values["start_date"]))
	end, errEnd := adlens.ParseDay(textOf(o.values["end_date"]))
	return start, end, errors.Join(errStart, errEnd)
}

// withDates returns a request that asks for the same days tomorrow. All time has no
// such dates: it may be longer than a period of dates can be.
func withDates(address string, period jsontext.Value) string {
	o, err := readObject(period)
	if name := textOf(o.values["range"]); err == nil && name != "all_time" {
		dates := "start_date=" + textOf(o.values["start_date"]) + "&end_date=" + textOf(o.values["end_date"])
		return strings.Replace(address, "range="+name, dates, 1)
	}
	return address
}

// incompleteOf returns what an answer says is incomplete, with its names made fit for a
// result; nil where nothing is.
func incompleteOf(said object) (jsontext.Value, error) {
	meta, err := readObject(said.values["meta"])
	if err != nil || meta.values["incomplete"] == nil {
		return nil, err
	}
	return cleanValue(meta.values["incomplete"]), nil
}

// setNotHeld says from which day on the period has days that have ended and that are not
// held of the whole account.
func (c call) setNotHeld(f *frame) error {
	start, end, err := daysOf(f.Period)
	if err != nil {
		return err
	}
	o, err := readObject(f.Period)
	if err != nil {
		return err
	}
	ended, err := c.moment.LastEnded(textOf(o.values["timezone"]))
	if err != nil {
		return err
	}
	newest, err := adlens.ParseDay(textOf(f.DataLastDate))
	if first := max(start, newest+1); err == nil && first <= min(end, ended) {
		f.NotHeldFrom = first.String()
	}
	return nil
}

// setBehind says which marketplaces of the call, and which ad products of the others,
// have their last day before the period's end and the newest day held: what follows is
// not held there, and is no fall.
func (c call) setBehind(f *frame, marketplaces object) error {
	all, err := readList(marketplaces.values["data"])
	if err != nil {
		return err
	}
	_, end, err := daysOf(f.Period)
	if err != nil {
		return err
	}
	newest, err := adlens.ParseDay(textOf(f.DataLastDate))
	if err != nil {
		return nil // nothing is held
	}
	end = min(end, newest)
	for _, one := range all {
		m, err := readObject(one)
		if err != nil {
			return err
		}
		if !c.namesMarketplace(m) {
			continue
		}
		id := textOf(m.values["marketplace_id"])
		if last, err := adlens.ParseDay(textOf(m.values["data_last_date"])); err != nil || last < end { // null where nothing is held
			f.Behind = append(f.Behind, []jsontext.Value{m.values["country_code"], m.values["marketplace_id"], jsontext.Value("null"), m.values["data_last_date"]})
			continue
		}
		for _, p := range adlens.AdProducts {
			if last, held := c.moment.LastDay(id, p); held && last < end && c.namesAdProduct(p) {
				f.Behind = append(f.Behind, []jsontext.Value{m.values["country_code"], m.values["marketplace_id"], textValue(p.String()), textValue(last.String())})
			}
		}
	}
	return nil
}

// namesAdProduct reports whether an ad product is one of the call's, which are all where
// it names none.
func (c call) namesAdProduct(p adlens.AdProduct) bool {
	named := strings.ToUpper(strings.Join(c.args["ad_products"], ","))
	return strings.Trim(named, ", ") == "" || strings.Contains(named, p.String())
}

// namesMarketplace reports whether a marketplace is one of the call's, which are all
// where it names none.
func (c call) namesMarketplace(m object) bool {
	named := strings.Split(strings.Join(c.args["marketplaces"], ","), ",")
	return slices.ContainsFunc(named, func(name string) bool { return strings.TrimSpace(name) == "" || isMarketplace(m, name) })
}

// isMarketplace reports whether a name is a marketplace's country or id, as the API reads
// them.
func isMarketplace(m object, name string) bool {
	name = strings.TrimSpace(name)
	return name == textOf(m.values["marketplace_id"]) || adlens.CanonicalCountry(strings.ToUpper(name)) == textOf(m.values["country_code"])
}
