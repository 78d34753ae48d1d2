package model

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

func (a *Account) takeRules(file string) (*report, string, error) {
	return nil, Loaded, takeRecords(file, a.rules, "rule_id", nil)
}

func (a *Account) takeRuns(file string) (*report, string, error) {
	return nil, Loaded, takeRecords(file, a.runs, "rule_run_id", nil)
}

func (a *Account) takeActivity(file string) (*report, string, error) {
	return nil, Loaded, takeRecords(file, a.activity, "activity_id", a.resolveMarketplace)
}

// takeRecords upserts a file's lines by id, or none of them.
func takeRecords(file string, held map[string]record, id string, complete func(record) error) error {
	lines, err := readLines(file)
	if err != nil {
		return err
	}
	for _, line := range lines {
		if complete == nil || line["deleted"] == true {
			continue
		}
		if err := complete(line); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	for _, line := range lines {
		if line["deleted"] == true {
			delete(held, line.memberText(id))
		} else {
			held[line.memberText(id)] = line
		}
	}
	return nil
}

func readLines(file string) ([]record, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var lines []record
	scan := bufio.NewScanner(strings.NewReader(string(content)))
	scan.Buffer(nil, len(content)+1)
	for scan.Scan() {
		if strings.TrimSpace(scan.Text()) == "" {
			continue
		}
		decoder := json.NewDecoder(strings.NewReader(scan.Text()))
		decoder.UseNumber()
		var line record
		if err := decoder.Decode(&line); err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	return lines, scan.Err()
}

// resolveMarketplace finds an activity entry's marketplace: by its id, or by its country
// where the account has one of that, or where the entry is held.
func (a *Account) resolveMarketplace(entry record) error {
	if id := entry.memberText("marketplace_id"); id != "" {
		if _, known := a.profiles[id]; !known {
			return fmt.Errorf("unknown marketplace_id %s", id)
		}
		entry["marketplace_id"] = id
		return nil
	}
	var found []string
	for id, p := range a.profiles {
		if p.country == canonicalCountry(entry.memberText("marketplace")) {
			found = append(found, id)
		}
	}
	if held := a.activity[entry.memberText("activity_id")].memberText("marketplace_id"); slices.Contains(found, held) {
		found = []string{held}
	}
	if len(found) != 1 {
		return fmt.Errorf("marketplace %s stands for %v", entry.memberText("marketplace"), found)
	}
	entry["marketplace_id"] = found[0]
	return nil
}

// campaignProvenance tells what the activity says of a campaign of one marketplace.
func (a *Account) campaignProvenance(profile, campaign string) string {
	answer := "untouched"
	for _, entry := range a.activity {
		if entry.memberText("marketplace_id") != profile {
			continue
		}
		if containsID(entry["created_campaign_ids"], campaign) {
			return "created"
		}
		if containsID(entry["changed_campaign_ids"], campaign) {
			answer = "changed"
		}
	}
	return answer
}

func containsID(list any, id string) bool {
	ids, _ := list.([]any)
	for _, one := range ids {
		if textOf(one) == id {
			return true
		}
	}
	return false
}

// parseTime reads a time; records that the model is given always have right ones.
func parseTime(value any) time.Time {
	t, err := time.Parse(time.RFC3339Nano, textOf(value))
	if err != nil {
		panic("model: not a time: " + textOf(value))
	}
	return t
}

// reformatTime writes a time as answers do; nothing stays null.
func reformatTime(value any) any {
	if value == nil {
		return nil
	}
	return formatTime(parseTime(value))
}

func formatTime(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}
