package query

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"adlens"
	"adlens/internal/manifest"
)

// identifiedDimension is a dimension whose values have ids and names: stored rows
// have numbers of theirs.
type identifiedDimension struct {
	name      string
	key       string // its column of stored rows
	id        string // the term of its ids in a ranked statement
	parameter string // that filters by it
	filterOf  func(*Request) []string
	isOf      adlens.EntityType // 0 for products
	expected  string            // what ids are
}

// identified are all of them. What is kept for each is in their order.
var identified = []identifiedDimension{
	{dimCampaign, "campaign_key", "campaign_id", "campaign_ids", func(r *Request) []string { return r.Filters.Campaigns }, adlens.CampaignEntity,
		"the id of a campaign with figures, or of one in the list of campaigns"},
	{dimAdGroup, "ad_group_key", "ad_group_id", "ad_group_ids", func(r *Request) []string { return r.Filters.AdGroups }, adlens.AdGroupEntity,
		"the id of an ad group with figures, or of one in the list of ad groups"},
	{dimProduct, "product_key", "id", "product_ids", func(r *Request) []string { return r.Filters.Products }, 0,
		"the id of a product with figures, or of one in the list of products"},
}

// keys are the stored numbers of some campaigns, ad groups and products, by their
// place among the identified dimensions; nil for all.
type keys [3][]uint32

// narrowing is what reports are narrowed to.
type narrowing struct {
	Only  keys  // by filters
	Found *keys // by the search, of which one is enough; nil without one

	// years are how many rows of each dimension that filters narrow there are in the
	// generations of years; nil for all.
	years [3]map[uint32]uint64

	name string // tells Only apart; "" for all
}

// isByAdGroup reports whether rows of products alone cannot tell what is left.
func (n narrowing) isByAdGroup() bool {
	for i, d := range identified {
		if d.isOf != 0 && n.Only[i] != nil {
			return true
		}
	}
	return false
}

// isNarrow reports whether filters leave something out.
func (n narrowing) isNarrow() bool {
	return slices.ContainsFunc(n.Only[:], func(only []uint32) bool { return only != nil })
}

// isEmpty reports whether nothing is left.
func (n narrowing) isEmpty() bool {
	for _, only := range n.Only {
		if only != nil && len(only) == 0 {
			return true
		}
	}
	return n.Found != nil && !slices.ContainsFunc(n.Found[:], func(found []uint32) bool { return len(found) > 0 })
}

// condition is the end of a statement's WHERE that keeps what is requested.
func (n narrowing) condition() string {
	text := ""
	var found []string
	for i, d := range identified {
		if n.Only[i] != nil {
			text += fmt.Sprintf("\n      AND %s IN {%ss:Array(UInt32)}", d.key, d.key)
		}
		if n.Found != nil && len(n.Found[i]) > 0 {
			found = append(found, fmt.Sprintf("%s IN {found_%ss:Array(UInt32)}", d.key, d.key))
		}
	}
	if found != nil {
		text += "\n      AND (" + strings.Join(found, " OR ") + ")"
	}
	return text
}

func (n narrowing) setKeys(v map[string]string) {
	for i, d := range identified {
		if n.Only[i] != nil {
			v[d.key+"s"] = Numbers(n.Only[i])
		}
		if n.Found != nil && len(n.Found[i]) > 0 {
			v["found_"+d.key+"s"] = Numbers(n.Found[i])
		}
	}
}

// narrowPlan is the plan for what is requested alone.
func (s *Service) narrowPlan(ctx context.Context, v View, r Request, plan Plan) (Plan, error) {
	if !r.narrowsByID() {
		return plan, nil
	}
	n, err := s.matchIDs(ctx, v, r)
	if err == nil {
		n.name = fmt.Sprint(n.Only)
		err = s.setYears(ctx, v, &n)
	}
	return plan.narrowTo(v, n), err
}

// narrowTo leaves out the units of years that have nothing of what is requested.
func (plan Plan) narrowTo(v View, n narrowing) Plan {
	for _, units := range []*[]Live{&plan.Years, &plan.Months, &plan.Days} {
		var kept []Live
		for _, l := range *units {
			year := v.Manifest.Generation(manifest.Unit{Kind: manifest.Year, Slice: l.Slice, Start: l.Start.FirstOfYear()})
			has := true
			for i, rows := range n.years {
				switch {
				case rows == nil:
				case rows[year] == 0:
					has = false
				case identified[i].isOf != 0 || plan.by == byProduct && !n.isByAdGroup(): // a product's rows are counted without ad groups
					l.most = min(cmp.Or(l.most, rows[year]), rows[year])
				}
			}
			if has {
				kept = append(kept, l)
			}
		}
		*units = kept
	}
	plan.narrowing = n
	if plan.Earlier != nil {
		plan.Earlier = new(plan.Earlier.narrowTo(v, n))
	}
	return plan
}

// matchIDs finds the numbers of what a request asks for, sorted.
func (s *Service) matchIDs(ctx context.Context, v View, r Request) (n narrowing, err error) {
	isFound := r.textFinder()
	if r.SearchedIn != nil {
		n.Found = &keys{}
	}
	for i, d := range identified {
		asked, searched := d.filterOf(&r), slices.Contains(r.SearchedIn, d.name)
		if asked == nil && !searched {
			continue
		}
		if asked != nil {
			n.Only[i] = []uint32{}
		}
		err := s.eachID(ctx, v, d, func(key uint32, id string, texts ...string) {
			if _, is := slices.BinarySearch(asked, id); is {
				n.Only[i] = append(n.Only[i], key)
			}
			if searched && slices.ContainsFunc(texts, isFound) {
				n.Found[i] = append(n.Found[i], key)
			}
		})
		if err != nil {
			return n, err
		}
		slices.Sort(n.Only[i])
		if n.Found != nil {
			slices.Sort(n.Found[i])
		}
	}
	return n, nil
}

// textFinder returns the check whether the search finds a title or a name.
func (r Request) textFinder() func(text string) bool {
	wanted := foldCase(r.Search)
	return func(text string) bool { return strings.Contains(foldCase(text), wanted) }
}

// foldCase returns a text in one case, as the statements of the lists do. Sigma, I, S and
// the letter mu are each the capital of two small letters.
func foldCase(text string) string { return otherSmall.Replace(strings.ToLower(text)) }

var otherSmall = strings.NewReplacer("ς", "σ", "ı", "i", "ſ", "s", "\u00b5", "\u03bc")

// eachID visits what an account's figures are of, with the texts that a search looks
// in.
func (s *Service) eachID(ctx context.Context, v View, d identifiedDimension, visit func(key uint32, id string, texts ...string)) error {
	if d.isOf != 0 {
		entities, err := s.directory.getEntities(ctx, v)
		for key, e := range entities.byKey {
			if e.Type == d.isOf {
				visit(uint32(key), e.ID, e.Name.Text)
			}
		}
		return err
	}
	names, err := s.directory.getNames(ctx, v)
	for key, id := range names.ids {
		visit(key, id, id, names.titles[id])
	}
	return err
}

// listedIDs returns the check whether an id is in a list of the view. Titles are the
// account's, whatever its marketplaces.
func (s *Service) listedIDs(ctx context.Context, v View, d identifiedDimension) (has func(id string) bool, err error) {
	if d.isOf != 0 {
		entities, err := s.directory.getEntities(ctx, v)
		return func(id string) bool {
			_, is := entities.listed[adlens.EntityID{Type: d.isOf, ID: id}]
			return is
		}, err
	}
	names, err := s.directory.getNames(ctx, v)
	return func(id string) bool { _, is := names.titles[id]; return is }, err
}

// UnknownIDs returns a fault for each id of the filters that is neither in a figure
// that is held nor in a list of the account.
func (s *Service) UnknownIDs(ctx context.Context, v View, r Request) (faults []adlens.Fault, err error) {
	for _, d := range identified {
		more, err := s.unknownIDs(ctx, v, d, d.filterOf(&r))
		if err != nil {
			return nil, err
		}
		faults = append(faults, more...)
	}
	return faults, nil
}

func (s *Service) unknownIDs(ctx context.Context, v View, d identifiedDimension, asked []string) (faults []adlens.Fault, err error) {
	known, err := s.knownIDs(ctx, v, d, asked)
	// Ids may differ in case alone. Writing all that are held in small letters takes
	// longer than an answer from memory.
	small, near := map[string]bool{}, map[string]string{}
	for _, id := range asked {
		if !known[id] {
			small[strings.ToLower(id)] = true
		}
	}
	if err != nil || len(small) == 0 {
		return nil, err
	}
	alike, err := s.heldIDs(ctx, v, d, func(id string) bool { return small[strings.ToLower(id)] })
	for _, id := range alike {
		near[strings.ToLower(id)] = id
	}
	for _, id := range asked {
		if !known[id] && len(faults) < mostWrongValues {
			f := unknownValue(id, nil, d.expected)
			f.Parameter, f.DidYouMean = d.parameter, near[strings.ToLower(id)]
			faults = append(faults, f)
		}
	}
	return faults, err
}

// knownIDs returns which of some ids are in a list of the view or in a figure that is
// held.
func (s *Service) knownIDs(ctx context.Context, v View, d identifiedDimension, ids []string) (known map[string]bool, err error) {
	known = map[string]bool{}
	if len(ids) == 0 {
		return known, nil
	}
	listed, err := s.listedIDs(ctx, v, d)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		known[id] = listed(id)
	}
	held, err := s.heldIDs(ctx, v, d, func(id string) bool { isListed, named := known[id]; return named && !isListed })
	for _, id := range held {
		known[id] = true
	}
	return known, err
}

// heldIDs returns those ids that match and are in a figure that is held, in the order of
// their numbers.
func (s *Service) heldIDs(ctx context.Context, v View, d identifiedDimension, matches func(id string) bool) (held []string, err error) {
	ids := map[uint32]string{}
	err = s.eachID(ctx, v, d, func(key uint32, id string, _ ...string) {
		if matches(id) {
			ids[key] = id
		}
	})
	if err != nil {
		return nil, err
	}
	keys := slices.Sorted(maps.Keys(ids))
	years, err := s.heldYears(ctx, v, d, keys)
	for _, key := range keys {
		if years[key] != nil {
			held = append(held, ids[key])
		}
	}
	return held, err
}

// mostOf is how many values a dimension has at most in an answer.
func (d identifiedDimension) mostOf(v View, r *Request) uint64 {
	if asked := d.filterOf(r); asked != nil {
		return uint64(len(asked))
	}
	if d.isOf == 0 {
		return productsOf(v).Rows + 1 // one for figures without a product
	}
	e, _ := v.Manifest.Find(manifest.Unit{Kind: manifest.Entities})
	return e.Rows + 1
}
