package query

import "strings"

// bothParts are the tables of both periods, given those of the later one. Each row has
// measures of one of them and zeros of the other, so one summing does for both.
func (plan Plan) bothParts(r Request, parts string, values []parameters) (string, []parameters) {
	var sides, names, renamed []string
	for _, column := range r.partColumns("", "") {
		name := column[strings.LastIndex(column, " ")+1:]
		names, renamed = append(names, name), append(renamed, "before."+name+" AS "+name)
	}
	if !plan.Empty() {
		sides = append(sides, r.fillTemplate("report_current", "/*columns*/", strings.Join(names, ", "), "/*parts*/\n", parts))
	}
	if then := plan.earlierPlan(); !then.Empty() {
		parts, more := then.periodParts(r.EarlierRequest())
		sides = append(sides, r.fillTemplate("report_earlier", "/*columns*/", strings.Join(renamed, ", "), "/*parts*/\n", earlierNames.Replace(parts)))
		values = append(values, earlierParameters(more))
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
