package recipes_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"adlens/integration/house"
	"adlens/integration/model"
)

// fullDays is a full read of what the recipes for tables keep.
const fullDays = dayTable + "&range=all_time"

// restatedBlocks are the most blocks that a step of followsThePast changes: days
// of one week may be in two months.
var restatedBlocks = map[string]int{"unchanged": 0, "unchanged again": 0, "restated": 2, "grown": 2, "corrected long after": 1}

// keepsDays has a program keep its table by blocks while the past is restated. It
// must send each block once, and read again only what changed. The table has four
// blocks of a month and, except from February to April, one of earlier days.
func keepsDays(t *testing.T, update func(environment []string) [][]string) {
	t.Helper()
	h, one := house.ShopWithData(t)
	server := countRequests(t, h.Server.Address)
	environment := []string{"ADLENS=" + server.Address, "ADLENS_KEY=" + one.Ask.Key}
	took := followsThePast(t, h, one, fullDays, func() ([][]string, []costed) {
		rows := update(environment)
		return rows, server.take()
	})
	for name, requests := range took {
		blocks := slices.DeleteFunc(slices.Clone(requests), func(r costed) bool { return strings.HasSuffix(r.Path, "/marketplaces") })
		got := statuses(blocks)
		if len(requests) != len(blocks)+1 || len(blocks) < 4 || len(blocks) > 7 || got[200]+got[304] != len(blocks) {
			t.Errorf("%s took %v", name, requests)
		}
		if most, known := restatedBlocks[name]; known && (got[200] > most || most == 0 && bytesOf(blocks) > 0) {
			t.Errorf("%s: %v, expected 304 for all blocks but %d", name, blocks, most)
		}
	}
	// An account that went back to an older backup begins later, or has no figures any
	// more. Here it is another one.
	for name, has := range map[string]bool{"later": true, "empty": false} {
		back := h.Client(t, one.Files.ID+"-"+name)
		if has {
			dir := t.TempDir()
			house.ProfilesFile(t, dir, [4]string{"101", "US", "USD", "seller"})
			house.SpPair("few", "101", house.DaysAgo(5), 3, time.Now()).Write(t, dir)
			if done, err := h.Load(one.Files.ID+"-"+name, dir); err != nil || done.Code != 0 {
				t.Fatal(done, err)
			}
		}
		server.answerAs(back.Key)
		want := house.CSVRows(t, house.Get(t, back, "/api/v1"+fullDays+"&page_size=all&format=csv").Body)
		if got := update(environment); len(want) > 1 != has || len(got) > 1 != has || has && !sameTable(got, want) {
			t.Errorf("%s: the table is\n%v\na full read gives\n%v", name, got, want)
		}
		server.answerAs("")
		update(environment) // so that each begins with the whole table
	}
}

func TestATableOfDuckDBFollowsTheRestatedPast(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	house.Need(t, os.WriteFile(filepath.Join(dir, "days.mjs"), []byte(blocksOf(t, "duckdb", "js")[0]), 0o600))
	node := nodeOf(t)
	house.Need(t, os.Symlink(filepath.Join(packageDir(), "node_modules"), filepath.Join(dir, "node_modules")))
	file := filepath.Join(dir, "days.duckdb")
	keepsDays(t, func(environment []string) (rows [][]string) {
		_, err := run(t, dir, environment, node, "days.mjs")
		house.Need(t, err)
		house.Need(t, json.Unmarshal(mustRun(t, "duckdb.mjs", file, "days"), &rows))
		return rows
	})
	// What the recipe asks the table is what the API answers.
	query := strings.TrimSuffix(strings.TrimSpace(blocksOf(t, "duckdb", "sql")[0]), ";")
	var months [][]string
	house.Need(t, json.Unmarshal(mustRun(t, "duckdb.mjs", file, "("+query+")"), &months))
	if len(months) < 3 || !slices.Equal(months[0], []string{"month", "marketplace", "spend", "sales", "acos"}) {
		t.Errorf("the recipe's query gives %v", months)
	}
}

// pandas is Debian's.
func pandas(t *testing.T) string {
	t.Helper()
	const python = "/usr/bin/python3"
	if err := exec.CommandContext(t.Context(), python, "-c", "import pandas").Run(); err != nil {
		t.Skip("python3-pandas is not installed")
	}
	return python
}

func TestATableOfPandasFollowsTheRestatedPast(t *testing.T) {
	t.Parallel()
	python, dir := pandas(t), t.TempDir()
	house.Need(t, os.WriteFile(filepath.Join(dir, "days.py"), []byte(blocksOf(t, "python", "python")[1]), 0o600))
	const show = `import days, json
table = days.table()
assert not len(table) or table["clicks"].dtype.kind == "i", table.dtypes
if len(table):
    table["date"] = table["date"].dt.strftime("%Y-%m-%d")
table = table.astype(object).where(table.notna(), "")
print(json.dumps([list(table.columns)] + table.astype(str).values.tolist()))`
	keepsDays(t, func(environment []string) (rows [][]string) {
		out, err := run(t, dir, environment, python, "-W", "error", "-c", show)
		house.Need(t, err)
		house.Need(t, json.Unmarshal(out, &rows))
		return rows
	})
}

func TestTheLinesForPandasReadAllRows(t *testing.T) {
	t.Parallel()
	python := pandas(t)
	h, one := house.ShopWithData(t)
	want := house.CSVRows(t, house.Get(t, one.Ask, "/api/v1/reports/products?range=last_30_days&page_size=all&format=csv").Body)
	const show = "\nimport json\ntable = table.astype(object).where(table.notna(), '')\nprint(json.dumps([list(table.columns)] + table.astype(str).values.tolist()))"
	cut := truncating(t, h.Server.Address)
	for name, lines := range map[string]string{
		"the recipe": replaced(t, blocksOf(t, "python", "python")[0], "print(table.head())", show),
		"the page": replaced(t, replaced(t, string(mustRun(t, "page.mjs", "pandas", h.Server.Address, "/api/v1/reports/products?range=last_30_days")),
			"YOUR_API_KEY", one.Ask.Key), "print(table)", show),
	} {
		out, err := run(t, t.TempDir(), []string{"ADLENS=" + h.Server.Address, "ADLENS_KEY=" + one.Ask.Key}, python, "-c", lines)
		house.Need(t, err)
		var rows [][]string
		if house.Need(t, json.Unmarshal(out, &rows)); len(want) < 2 || !sameTable(rows, want) {
			t.Errorf("%s reads\n%v\nthe API says\n%v", name, rows, want)
		}
		lines = strings.ReplaceAll(lines, h.Server.Address, cut) // the page writes it, the recipe reads it
		if out, err := run(t, t.TempDir(), []string{"ADLENS=" + cut, "ADLENS_KEY=" + one.Ask.Key}, python, "-c", lines); err == nil || !strings.Contains(err.Error(), "the server left rows out") {
			t.Errorf("%s reads a part: %s, %v", name, out, err)
		}
	}
}

// A column of ids with an empty cell is one of floats, unless it is read as text; and
// some names are taken for missing ones.
func TestPandasKeepsTheDigitsOfARulesCampaign(t *testing.T) {
	t.Parallel()
	python := pandas(t)
	h, one := house.ShopWithData(t)
	const campaign = "900719925474099301" // 2^53 and more
	narrow := house.RuleLine("narrow")
	narrow["name"] = "NA"
	narrow["scope"] = map[string]any{"marketplaces": nil, "campaign_ids": []any{campaign}}
	dir := t.TempDir()
	house.Put(t, dir, "rules.ndjson", house.Lines(t, narrow, house.RuleLine("wide")))
	if done, err := h.Load(one.Files.ID, dir); err != nil || done.Code != 0 {
		t.Fatal(done, err)
	}
	lines := replaced(t, string(mustRun(t, "page.mjs", "pandas", h.Server.Address, "/api/v1/rules?page_size=all")), "YOUR_API_KEY", one.Ask.Key)
	out, err := run(t, t.TempDir(), nil, python, "-c", replaced(t, lines, "print(table)", "print(*table['scope_campaign_ids'].dropna(), 'NA' in list(table['name']))"))
	house.Need(t, err)
	if got := strings.TrimSpace(string(out)); got != campaign+" True" {
		t.Errorf("pandas reads the campaign and whether a name is NA as %s, want %s True", got, campaign)
	}
}

func TestPandasReadsIDsAndNamesAsText(t *testing.T) {
	t.Parallel()
	recipe := string(mustRun(t, "page.mjs", "pandas", "http://127.0.0.1:1", "/api/v1/rules?page_size=all"))
	isText := regexp.MustCompile(`_ids?$|_name$|^name$|^title$|^summary$`)
	for name := range wantedTypes {
		if isText.MatchString(name) && !strings.Contains(recipe, `"`+name+`": str`) {
			t.Errorf("the recipe does not read %s as text", name)
		}
	}
}

// DuckDB shows no header of what it reads, so the recipe's query counts the rows. Here it
// reads a file of what the server answers.
func TestTheQueryOfDuckDBFailsWhereRowsMayBeMissing(t *testing.T) {
	t.Parallel()
	_, one := house.ShopWithData(t)
	_, query, _ := strings.Cut(blocksOf(t, "duckdb", "sql")[1], ";")
	before, rest, _ := strings.Cut(query, "read_parquet('https://figures.example.com")
	request, after, _ := strings.Cut(rest, "')")
	file := filepath.Join(t.TempDir(), "answer.parquet")
	house.Need(t, os.WriteFile(file, house.Get(t, one.Ask, replaced(t, request, "last_year", "all_time")).Body, 0o600))
	query = "(" + before + "read_parquet('" + file + "')" + strings.TrimSuffix(strings.TrimSpace(after), ";") + ")"
	ask := func(query string) ([]byte, error) {
		return script(t, "duckdb.mjs", ":memory:", query)
	}
	var rows [][]string
	out, err := ask(query)
	if house.Need(t, err); json.Unmarshal(out, &rows) != nil || len(rows) < 3 || !slices.Equal(rows[0], []string{"product_id", "spend", "sales"}) {
		t.Errorf("the query gives %s", out)
	}
	if out, err := ask(replaced(t, query, "< 100000", "< 2")); err == nil || !strings.Contains(err.Error(), "rows may be missing") {
		t.Errorf("with too many rows the query gives %s, %v", out, err)
	}
}

// What the page offers to paste gives all pages of a long list, as it stands. What a
// server refuses is not among them, and a list of which a page is missing is an error.
func TestWhatThePageOffersGivesAllPages(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	const campaigns = 2*1000 + 3
	rows := make([]map[string]any, campaigns)
	for i := range rows {
		rows[i] = house.CampaignRow(strconv.FormatInt(144_158_449_488_730_278+int64(i), 10), fmt.Sprintf("Lamp's & \"shade\" %d", i), "USD")
	}
	dir := t.TempDir()
	house.ExportPair("campaigns", "101", "campaigns", time.Now(), rows...).Write(t, dir)
	house.Load(t, h.Program, one, dir)
	const request = "/api/v1/campaigns?marketplace_id=101"
	paste := func(tool, server string) string {
		return replaced(t, string(mustRun(t, "page.mjs", tool, server, request+"&page=2&page_size=25")), "YOUR_API_KEY", one.Ask.Key)
	}
	var want []any
	for page := 1; page <= 3; page++ {
		decoded, err := model.Decode(house.Get(t, one.Ask, fmt.Sprintf("%s&page_size=1000&page=%d", request, page)).Body)
		house.Need(t, err)
		want = append(want, decoded)
	}
	refused := func(status int, refuses func(int64) bool) string {
		return refusing(t, h.Server.Address, status, refuses)
	}
	for name, c := range map[string]struct {
		server string
		pages  int
	}{
		"the server":                     {h.Server.Address, 3},
		"one that refuses each once":     {refused(429, func(request int64) bool { return request%2 == 1 }), 3},
		"one that stays away after one":  {refused(503, func(request int64) bool { return request > 1 }), 1},
		"one that refuses the last page": {refused(403, func(request int64) bool { return request > 2 }), 2},
	} {
		out, err := run(t, t.TempDir(), nil, "sh", "-c", replaced(t, paste("curl", c.server), "  curl", "  curl -sS"))
		if got := decodedPages(t, out); !reflect.DeepEqual(got, want[:c.pages]) {
			t.Errorf("from %s curl gives %d pages, want the first %d of the API:\n%.2000s", name, len(got), c.pages, out)
		}
		var failed *exec.ExitError
		isPart := errors.As(err, &failed) && failed.ExitCode() == 22 && strings.Contains(err.Error(), "rows are missing, from /api/v1/campaigns?")
		if c.pages < len(want) && !isPart || c.pages == len(want) && err != nil {
			t.Errorf("from %s curl gives %d of %d pages, and ends with %v", name, c.pages, len(want), err)
		}
	}
	python := pandas(t)
	out, err := run(t, t.TempDir(), nil, python, "-W", "error", "-c", replaced(t, paste("pandas", h.Server.Address), "print(table)", "print('\\n'.join(table['campaign_id']))"))
	house.Need(t, err)
	ids := strings.Fields(string(out))
	if slices.Sort(ids); len(slices.Compact(ids)) != campaigns || ids[0] != fmt.Sprint(rows[0]["campaignId"]) {
		t.Errorf("pandas reads %d campaigns, the first of which is %s; want %d", len(ids), ids[0], campaigns)
	}
}

// decodedPages are the JSON texts of an output, one after another.
func decodedPages(t *testing.T, out []byte) (pages []any) {
	t.Helper()
	all := json.NewDecoder(bytes.NewReader(out))
	all.UseNumber()
	for all.More() {
		var page any
		house.Need(t, all.Decode(&page))
		pages = append(pages, page)
	}
	return pages
}

// The commands of the recipe for curl run in a shell as they stand.
func TestTheCommandsForCurlRunAsTheyStand(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	dir := t.TempDir()
	environment := []string{"ADLENS=" + h.Server.Address, "ADLENS_KEY=" + one.Ask.Key}
	blocks := blocksOf(t, "curl", "sh")
	for _, server := range []string{h.Server.Address, refusing(t, h.Server.Address, 429, theFirst)} {
		timeline, err := run(t, dir, append(slices.Clone(environment), "ADLENS="+server), "sh", "-ec", blocks[1])
		house.Need(t, err)
		if want := house.Get(t, one.Ask, "/api/v1/timeline?range=last_month").Body; string(timeline) != string(want) {
			t.Errorf("curl says %s, the API %s", timeline, want)
		}
	}
	want := house.Get(t, one.Ask, "/api/v1/summary?range=this_month").Body
	away := "ADLENS=" + refusing(t, h.Server.Address, 429, func(int64) bool { return true })
	for _, isAway := range []bool{false, false, true, false} { // the second answer is a 304, and so is the last
		asked := environment
		if isAway {
			asked = append(slices.Clone(environment), away)
		}
		if _, err := run(t, dir, asked, "sh", "-ec", blocks[2]); isAway != (err != nil) {
			t.Fatalf("the server refuses is %v, and curl ends with %v", isAway, err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, "summary.json")); err != nil || string(got) != string(want) {
			t.Errorf("curl saved %s (%v), the API says %s", got, err, want)
		}
	}
}
