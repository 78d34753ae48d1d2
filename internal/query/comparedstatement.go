package query

import (
	"slices"
	"strings"
)

// rankedParts are what a ranked statement reads, and how its slots are filled.
func (plan Plan) rankedParts(r Request) (parts string, values []parameters, slots []string) {
	parts, values = plan.periodParts(r)
	if plan.Earlier == nil {
		return parts, values, sumSlots(r.summands(), "")
	}
	parts, values = plan.bothParts(r)
	return parts, values, sumSlots(r.summands(), "", prefixEarlier)
}

// bothParts are the tables of both periods. Each row has measures of one of
// them and zeros of the other, so one summing does for both.
func (plan Plan) bothParts(r Request) (string, []parameters) {
	var sides, names, renamed []string
	for _, column := range r.partColumns("", "") {
		name := column[strings.LastIndex(column, " ")+1:]
		names, renamed = append(names, name), append(renamed, "before."+name+" AS "+name)
	}
	parts, values := plan.periodParts(r)
	if !plan.Empty() {
		sides = append(sides, r.fillTemplate("report_current", "/*columns*/", strings.Join(names, ", "), "/*parts*/\n", parts))
	}
	if then := plan.earlierPlan(); !then.Empty() {
		parts, more := then.periodParts(r.EarlierRequest())
		sides = append(sides, r.fillTemplate("report_earlier", "/*columns*/", strings.Join(renamed, ", "), "/*parts*/\n", earlierNames.Replace(parts)))
		values = append(slices.Clone(values), earlierParameters(more))
	}
	return strings.Join(sides, "    UNION ALL\n"), values
}

// earlierNames are the names of the earlier period's parameters.
var earlierNames = strings.NewReplacer("{years:", "{earlier_years:", "{months:", "{earlier_months:", "{calendar:", "{earlier_calendar:",
	"{undivided_years:", "{earlier_undivided_years:", "{undivided_months:", "{earlier_undivided_months:", "{undivided_calendar:", "{earlier_undivided_calendar:",
	"{days:", "{earlier_days:", "{first_bucket:", "{earlier_first_bucket:", "{from:", "{earlier_from:", "{to:", "{earlier_to:",
	"{unreported_", "{earlier_unreported_")

func earlierParameters(values []parameters) parameters {
	return func(v map[string]string) {
		own := map[string]string{}
		for _, set := range values {
			set(own)
		}
		for name, value := range own {
			v[prefixEarlier+name] = value
		}
	}
}
