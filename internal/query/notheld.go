package query

import (
	"adlens"
	"adlens/internal/manifest"
	"adlens/internal/query/period"
)

// NotHeld is how many days of an answer no report of an ad product in a marketplace covers,
// from the first to the last of them. They are missing in sums, and are no zeros.
type NotHeld struct {
	Marketplace Marketplace
	AdProduct   adlens.AdProduct
	manifest.Run
	Days int
}

// add adds those of some days that are in a period.
func (n *NotHeld) add(run manifest.Run, within period.Period) {
	first, last := max(run.First, within.Start), min(run.Last, within.End)
	if first > last {
		return
	}
	if n.Days == 0 {
		n.Run = manifest.Run{First: first, Last: last}
	}
	n.Run = manifest.Run{First: min(n.First, first), Last: max(n.Last, last)}
	n.Days += int(last-first) + 1
}

// notHeld are the days of an answer that are not held, by marketplace and ad product: those of
// its period and of the one that it is compared with, after the first that is held and up to
// the account's newest. What was before the first report may not have been.
func (v View) notHeld(r Request) (all []NotHeld) {
	_, newest, _ := v.HeldSpan()
	for _, m := range v.filtered(r) {
		for _, product := range adProductOrder {
			missing := NotHeld{Marketplace: m, AdProduct: adlens.AdProduct(product)}
			slice := manifest.Slice{Marketplace: m.Key, AdProduct: missing.AdProduct}
			if !r.hasAdProduct(slice) {
				continue
			}
			for _, run := range v.Manifest.NotHeld(slice, newest) {
				missing.add(run, r.Period)
				if r.Compared() {
					earlier := r.Earlier
					earlier.End = min(earlier.End, r.Period.Start-1) // each day once
					missing.add(run, earlier)
				}
			}
			if missing.Days > 0 {
				all = append(all, missing)
			}
		}
	}
	return all
}
