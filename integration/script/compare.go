package script

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

	"adlens/integration/model"
)

// compareBlock holds an answer against a block: a JSON subset, or a table of the
// rows of one list, which must all be there in this order.
func compareBlock(block []string, rows string, body any) ([]string, error) {
	if len(block) == 0 {
		return nil, nil
	}
	if !strings.HasPrefix(block[0], "|") {
		want, err := model.Decode([]byte(strings.Join(block, "\n")))
		if err != nil {
			return nil, fmt.Errorf("the expected JSON does not parse: %w", err)
		}
		return model.Diff(want, body), nil
	}
	object, _ := body.(map[string]any)
	list, ok := object[rows].([]any)
	if !ok {
		return []string{fmt.Sprintf("the answer has no list %q: %v", rows, body)}, nil
	}
	return compareTable(block, list), nil
}

func compareTable(block []string, list []any) []string {
	names := splitCells(block[0])
	var faults []string
	if len(list) != len(block)-1 {
		faults = append(faults, fmt.Sprintf("want %d rows, got %d", len(block)-1, len(list)))
	}
	for i := range min(len(list), len(block)-1) {
		row, _ := list[i].(map[string]any)
		want := splitCells(block[i+1])
		if len(want) != len(names) {
			return append(faults, fmt.Sprintf("row %d has %d cells for %d names", i+1, len(want), len(names)))
		}
		for j, name := range names {
			got, has := row[name]
			if !has || !sameCell(want[j], got) {
				faults = append(faults, fmt.Sprintf("row %d, %s: want %s, got %v", i+1, name, want[j], got))
			}
		}
	}
	return faults
}

func splitCells(line string) []string {
	var texts []string
	for _, cell := range strings.Split(strings.Trim(line, "|"), "|") {
		texts = append(texts, strings.TrimSpace(cell))
	}
	return texts
}

func sameCell(want string, got any) bool {
	switch g := got.(type) {
	case nil:
		return want == "null"
	case string:
		return want == g
	case bool:
		return want == fmt.Sprint(g)
	case json.Number:
		w, okWant := new(big.Rat).SetString(want)
		v, okGot := new(big.Rat).SetString(g.String())
		return okWant && okGot && w.Cmp(v) == 0
	case []any:
		texts := []string{}
		for _, element := range g {
			texts = append(texts, fmt.Sprint(element))
		}
		return want == strings.Join(texts, ";")
	}
	return false
}
