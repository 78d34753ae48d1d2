package loading_test

import (
	"encoding/json"
	"strings"
	"testing"

	"adlens/integration/house"
)

// recordFault is a broken file of records.
type recordFault struct {
	name, file, content string
	says                []string
	line                int
}

// recordKind writes three right lines that would change what is held.
type recordKind struct {
	file string
	line func(id string) map[string]any
}

var (
	ruleKind     = recordKind{"rules.ndjson", func(id string) map[string]any { return house.With(house.RuleLine(id), "status", "off") }}
	runKind      = recordKind{"rule_runs.ndjson", func(id string) map[string]any { return house.With(house.RunLine(id, "one"), "changed", 7) }}
	activityKind = recordKind{"activity.ndjson", func(id string) map[string]any {
		return house.With(house.ActivityLine(id, "101"), "changed_campaign_ids", []any{"1", "2", "3"})
	}}
)

// spoil changes a member of the second line; a nil value takes it out.
func (k recordKind) spoil(t *testing.T, name, member string, value any, says ...string) recordFault {
	t.Helper()
	broken := k.line("two")
	if value == nil {
		delete(broken, member)
	} else {
		broken[member] = value
	}
	return k.raw(t, name, string(house.Marshal(t, broken)), append(says, member)...)
}

// raw has any second line.
func (k recordKind) raw(t *testing.T, name, second string, says ...string) recordFault {
	t.Helper()
	text := string(house.Lines(t, k.line("one"))) + second + "\n" + string(house.Lines(t, k.line("three")))
	return recordFault{name: k.file + " " + name, file: k.file, content: text, says: says, line: 2}
}

func recordFaults(t *testing.T) []recordFault {
	t.Helper()
	faults := append(ruleFaults(t), append(runFaults(t), activityFaults(t)...)...)
	for _, kind := range []recordKind{ruleKind, runKind, activityKind} {
		faults = append(faults, syntaxFaults(t, kind)...)
	}
	return faults
}

func ruleFaults(t *testing.T) []recordFault {
	t.Helper()
	k := ruleKind
	return []recordFault{
		k.spoil(t, "unknown status", "status", "paused", "paused"),
		k.spoil(t, "no id", "rule_id", nil),
		k.spoil(t, "an empty id", "rule_id", ""),
		k.spoil(t, "a fractional id", "rule_id", house.Exact("1.5"), "1.5"),
		k.spoil(t, "no status", "status", nil),
		k.spoil(t, "scope in text", "scope", "all"),
		k.spoil(t, "no edited_at", "edited_at", nil),
		k.spoil(t, "garbled edited_at", "edited_at", "yesterday", "yesterday"),
		k.spoil(t, "impossible edited_at", "edited_at", "2026-02-30T08:00:00Z", "2026-02-30"),
		k.spoil(t, "deleted in text", "deleted", "yes", "yes"),
		k.raw(t, "deletion of nothing", `{"deleted":true}`, "rule_id"),
	}
}

func runFaults(t *testing.T) []recordFault {
	t.Helper()
	k := runKind
	return []recordFault{
		k.spoil(t, "no id", "rule_run_id", nil),
		k.spoil(t, "no rule", "rule_id", nil),
		k.spoil(t, "test in text", "test", "maybe", "maybe"),
		k.spoil(t, "no started_at", "started_at", nil),
		k.spoil(t, "impossible started_at", "started_at", "2026-10-02T25:00:00Z", "2026-10-02T25"),
		k.spoil(t, "garbled finished_at", "finished_at", "soon", "soon"),
		k.spoil(t, "negative changed", "changed", -1, "-1"),
		k.spoil(t, "fractional changed", "changed", house.Exact("1.5"), "1.5"),
		k.spoil(t, "changed in words", "changed", "many", "many"),
		k.raw(t, "negative looked_at", string(house.Marshal(t, house.With(k.line("two"), "looked_at", map[string]any{"campaigns": -3, "ad_groups": 0, "targets": 0}))), "campaigns", "-3"),
		k.spoil(t, "changes that are no list", "changes", "none"),
	}
}

func activityFaults(t *testing.T) []recordFault {
	t.Helper()
	k := activityKind
	byCountry := func(name, country string, says ...string) recordFault {
		entry := house.With(k.line("by country"), "marketplace", country)
		delete(entry, "marketplace_id")
		return k.raw(t, name, string(house.Marshal(t, entry)), append(says, "marketplace", country)...)
	}
	return []recordFault{
		byCountry("a country with two marketplaces", "US", "marketplace_id"),
		byCountry("a country that is not connected", "FR"),
		byCountry("no country at all", "XX"),
		k.spoil(t, "no marketplace", "marketplace_id", nil),
		k.spoil(t, "unknown marketplace", "marketplace_id", "999", "999"),
		k.spoil(t, "unknown tool", "tool", "rules", "rules"),
		k.spoil(t, "no tool", "tool", nil),
		k.spoil(t, "no id", "activity_id", nil),
		k.spoil(t, "no occurred_at", "occurred_at", nil),
		k.spoil(t, "impossible occurred_at", "occurred_at", "2026-13-01T08:00:00Z", "2026-13-01"),
		k.spoil(t, "a day for occurred_at", "occurred_at", "2026-10-02", "2026-10-02"),
		k.spoil(t, "negative changed", "changed", -1, "-1"),
		k.spoil(t, "created ids in text", "created_campaign_ids", "1"),
		k.spoil(t, "fractional campaign id", "changed_campaign_ids", []any{json.Number("1.5")}, "1.5"),
	}
}

func syntaxFaults(t *testing.T, k recordKind) []recordFault {
	t.Helper()
	good := string(house.Marshal(t, k.line("two")))
	long := k.raw(t, "last line cut off", good)
	long.content, long.line = long.content[:len(long.content)-12], 3
	return []recordFault{
		k.raw(t, "a line broken in the middle", good[:len(good)/2]+"\n"+good[len(good)/2:]),
		k.raw(t, "a list for an object", "["+good+"]"),
		k.raw(t, "two objects on a line", good+good),
		k.raw(t, "text that is no JSON", "# comment"),
		k.raw(t, "a comma behind", good+","),
		k.raw(t, "a name twice", strings.Replace(good, "{", `{"summary":"x","summary":"y",`, 1)),
		k.raw(t, "Latin-1", strings.Replace(good, "two", "tw\xf6", 1)),
		k.raw(t, "UTF-16", "\xff\xfe{\x00}\x00"),
		long,
	}
}
