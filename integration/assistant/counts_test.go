package assistant_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"adlens/integration/house"
)

func unchanged(text string) string { return text }

// counted are all questions of a row, those that are held and those that are missing: of
// the fixed searches and of the earlier ones.
type counted struct{ fixed, earlier [3]int }

func (c *counted) add(fixed, holds bool) {
	of := &c.earlier
	if fixed {
		of = &c.fixed
	}
	of[0]++
	if holds {
		of[1]++
	} else {
		of[2]++
	}
}

// The text next to the questions counts them right, in each row of its tables.
func TestTheQuestionsAreCountedRight(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/README.md")
	house.Need(t, err)
	c := readQuestions(t, unchanged)
	rows := map[string]*counted{}
	for _, q := range c.Questions {
		for _, name := range []string{"all", strconv.Itoa(q.Search) + " ", "`" + q.AskedIn + "`", "`" + q.Topic + "`", "`" + q.Missing + "`"} {
			if rows[name] == nil {
				rows[name] = &counted{}
			}
			rows[name].add(c.isFixed(q), q.Holds)
		}
	}
	delete(rows, "``")
	delete(rows, "`missing`")
	for name, n := range rows {
		cells := []int{n.fixed[0], n.earlier[0]} // of a topic or a kind of what is missing
		place, err := strconv.Atoi(strings.TrimSpace(name))
		switch {
		case err == nil:
			cells = append([]int{len(c.Searches[place-1].Queries)}, n.fixed[:]...)
			if !c.Searches[place-1].Fixed {
				cells = append(cells[:1], n.earlier[:]...)
			}
		case slices.Contains([]string{"all", "`post`", "`issue`", "`help`", "`prompt`"}, name):
			cells = append(n.fixed[:], n.earlier[:]...)
		}
		if want := " | " + strings.Join(strings.Fields(strings.Trim(fmt.Sprint(cells), "[]")), " | ") + " |"; !regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(name) + `.*` + regexp.QuoteMeta(want) + `$`).Match(text) {
			t.Errorf("testdata/README.md does not count %s as%s", name, want)
		}
	}
	if counting := len(regexp.MustCompile(`(?m)^\|.* \| [0-9]+ \|$`).FindAll(text, -1)); counting != len(rows) {
		t.Errorf("testdata/README.md has %d rows that count, want %d", counting, len(rows))
	}
}

// The fixed searches are word for word what was written down before they were asked, and
// their questions are in the order of finding.
func TestTheFixedSearchesAreThoseThatWereWrittenDown(t *testing.T) {
	t.Parallel()
	written, err := os.ReadFile("testdata/searches.json")
	house.Need(t, err)
	text, err := os.ReadFile("testdata/README.md")
	house.Need(t, err)
	if sum := sha256.Sum256(written); !strings.Contains(string(text), hex.EncodeToString(sum[:])) {
		t.Errorf("testdata/README.md does not name the SHA-256 of searches.json, %x", sum)
	}
	var lists map[string]json.RawMessage
	house.Need(t, json.Unmarshal(written, &lists))
	c := readQuestions(t, unchanged)
	n := 0
	for _, s := range c.Searches {
		if !s.Fixed {
			continue
		}
		n++
		var list struct {
			Corpus  string
			Queries []string
		}
		house.Need(t, json.Unmarshal(lists[strconv.Itoa(n)], &list))
		if s.Corpus != list.Corpus || !slices.Equal(s.Queries, list.Queries) {
			t.Errorf("the fixed search %d is not what was written down", n)
		}
	}
	if n != 3 {
		t.Errorf("there are %d fixed searches, want 3", n)
	}
	fixed := slices.DeleteFunc(slices.Clone(c.Questions), func(q question) bool { return !c.isFixed(q) })
	if !slices.IsSortedFunc(fixed, func(a, b question) int {
		return cmp.Or(cmp.Compare(a.Search, b.Search), cmp.Compare(a.Query, b.Query), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.ID, b.ID))
	}) {
		t.Error("questions of the fixed searches are not in the order of finding")
	}
	for i, q := range c.Questions {
		if q.ID != i+1 {
			t.Errorf("question %d has the id %d", i+1, q.ID)
		}
	}
}
