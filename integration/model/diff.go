package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strings"
)

// Decode reads an answer without losing a digit.
func Decode(body []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, fmt.Errorf("text after the JSON value: %v", err)
	}
	return value, nil
}

// Diff lists where got does not have what want says. Members that only got has
// are no difference: version 1 may add some. Numbers compare as decimals.
func Diff(want, got any) []string { return diffValue("$", want, got) }

func diffValue(path string, want, got any) []string {
	switch w := want.(type) {
	case map[string]any:
		return diffObject(path, w, got)
	case []any:
		return diffArray(path, w, got)
	case json.Number:
		return diffNumber(path, w, got)
	}
	if want != got {
		return []string{fmt.Sprintf("%s: want %v, got %v", path, shortJSON(want), shortJSON(got))}
	}
	return nil
}

func diffObject(path string, want map[string]any, got any) []string {
	object, ok := got.(map[string]any)
	if !ok {
		return []string{fmt.Sprintf("%s: want an object, got %v", path, shortJSON(got))}
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(want)) {
		value, has := object[name]
		at := path + "." + name
		if !has {
			lines = append(lines, fmt.Sprintf("%s: want %v, got no such member", at, shortJSON(want[name])))
			continue
		}
		lines = append(lines, diffValue(at, want[name], value)...)
		lines = append(lines, notWhole(at, name, value)...)
	}
	return lines
}

var (
	wholeNames  = regexp.MustCompile(`^(impressions|clicks|purchases|page|page_size|total_rows|total_pages|next_page|campaigns|ad_groups|ads|targets|changed)$`)
	wholeNumber = regexp.MustCompile(`^(0|-?[1-9][0-9]*)$`)
)

// notWhole finds counts that are not written as integers. A change of a count
// is in percent.
func notWhole(path, name string, got any) []string {
	n, ok := got.(json.Number)
	if ok && !strings.Contains(path, ".change.") && wholeNames.MatchString(name) && !wholeNumber.MatchString(n.String()) {
		return []string{fmt.Sprintf("%s: want an integer, got %s", path, n)}
	}
	return nil
}

func diffArray(path string, want []any, got any) []string {
	list, ok := got.([]any)
	if !ok {
		return []string{fmt.Sprintf("%s: want a list, got %v", path, shortJSON(got))}
	}
	var lines []string
	if len(want) != len(list) {
		lines = append(lines, fmt.Sprintf("%s: want %d elements, got %d", path, len(want), len(list)))
	}
	for i := range min(len(want), len(list)) {
		lines = append(lines, diffValue(fmt.Sprintf("%s[%d]", path, i), want[i], list[i])...)
	}
	return lines
}

func diffNumber(path string, want json.Number, got any) []string {
	n, ok := got.(json.Number)
	if ok {
		w, okW := new(big.Rat).SetString(want.String())
		g, okG := new(big.Rat).SetString(n.String())
		if okW && okG && w.Cmp(g) == 0 {
			return nil
		}
	}
	return []string{fmt.Sprintf("%s: want %s, got %v", path, want, shortJSON(got))}
}

func shortJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprintf("%v", value)
	}
	if len(text) > 300 {
		return string(text[:300]) + "..."
	}
	return string(text)
}
