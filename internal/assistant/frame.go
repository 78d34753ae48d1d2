package assistant

import (
	"errors"
	"slices"
	"strings"

	"adlens"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// frame is what every result of figures says of itself.
type frame struct {
	AccountID      string         `json:"account_id"`
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
// result, and which days are not held.
func incompleteOf(said object) (incomplete jsontext.Value, missing []missingPart, err error) {
	meta, err := readObject(said.values["meta"])
	if err != nil {
		return nil, nil, err
	}
	if meta.values["incomplete"] != nil {
		incomplete = cleanValue(meta.values["incomplete"]) // campaigns are named there
	}
	if all := meta.values["not_held"]; all != nil {
		err = json.Unmarshal(all, &missing)
	}
	return incomplete, missing, err
}

// withMissing adds parts of which days are not held to what is incomplete.
func withMissing(incomplete jsontext.Value, missing []missingPart) (jsontext.Value, error) {
	var parts []jsontext.Value
	if incomplete != nil {
		if err := json.Unmarshal(incomplete, &parts); err != nil {
			return nil, err
		}
	}
	for _, part := range missing {
		part.Reason = "days_not_held"
		value, err := json.Marshal(part)
		if err != nil {
			return nil, err
		}
		parts = append(parts, value)
	}
	if parts == nil {
		return nil, nil
	}
	return json.Marshal(parts)
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
