package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"adlens"
)

// duckProcess is DuckDB inside a Node process of its own.
type duckProcess struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// errAbsent is a peer that is not installed here.
var errAbsent = errors.New("not installed")

// duckMemory bounds DuckDB, as the engine is bounded.
const duckMemory = "10GB"

func startDuckDB(script, file string) (*duckProcess, error) {
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, fmt.Errorf("node: %w", errAbsent)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(script), "node_modules")); err != nil {
		return nil, fmt.Errorf("npm ci was not run in %s: %w", filepath.Dir(script), errAbsent)
	}
	p := &duckProcess{cmd: exec.Command(node, script, file, duckMemory)}
	p.cmd.Stderr = os.Stderr
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReaderSize(out, 1<<20)
	return p, p.cmd.Start()
}

// timeStatement runs a statement; rows are texts, numbers as DuckDB prints them.
func (p *duckProcess) timeStatement(statement string, rows bool) (time.Duration, [][]string, error) {
	text, err := json.Marshal(map[string]any{"sql": statement, "rows": rows})
	if err != nil {
		return 0, nil, err
	}
	if _, err := p.in.Write(append(text, '\n')); err != nil {
		return 0, nil, err
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return 0, nil, err
	}
	var said struct {
		MS    float64
		Rows  [][]any
		Error string
	}
	if err := json.Unmarshal(line, &said); err != nil {
		return 0, nil, err
	}
	if said.Error != "" {
		return 0, nil, fmt.Errorf("DuckDB: %s in %s", said.Error, statement)
	}
	return time.Duration(said.MS * float64(time.Millisecond)), rowTexts(said.Rows), nil
}

func rowTexts(rows [][]any) [][]string {
	all := make([][]string, len(rows))
	for i, row := range rows {
		for _, value := range row {
			text := fmt.Sprint(value)
			if number, ok := value.(float64); ok {
				text = fmt.Sprintf("%.0f", number) // small integers alone come as numbers
			}
			all[i] = append(all[i], text)
		}
	}
	return all
}

func (p *duckProcess) close() error {
	p.in.Close()
	return p.cmd.Wait()
}

// duckDB asks DuckDB, over its plain table or its rollups.
type duckDB struct {
	label       string
	process     *duckProcess
	places      map[string]places
	rollups     bool
	first, last adlens.Day // held
}

func (d *duckDB) contestantName() string { return d.label }

func (d *duckDB) close() error { return nil }

func (d *duckDB) askQuestion(_ context.Context, q *question) (reply, error) {
	took, rows, err := d.process.timeStatement(d.questionSQL(q), true)
	return reply{took, nil, func() ([]string, error) { return q.readPeer(rows, false) }}, err
}

func (d *duckDB) questionSQL(q *question) string {
	keys := d.places[q.account.id].keysByCountry()
	if !d.rollups {
		return duckdbSQL.selectAnswer(q, "facts", " WHERE "+q.rowPredicate(keys))
	}
	if q.by == byCampaign || q.campaigns != nil {
		table, where := q.campaignRollup(d.first, d.last, keys)
		return duckdbSQL.selectAnswer(q, table, " WHERE "+where)
	}
	parts := q.rollupParts(d.first, d.last)
	if q.endpoint == summaries || q.endpoint == timelines {
		return duckdbSQL.selectAnswer(q, "day_totals", " WHERE "+q.rowPredicate(keys))
	}
	var selects []string
	for _, p := range parts {
		where := q.slicePredicate(keys)
		if p.column != "" {
			where += fmt.Sprintf(" AND %s BETWEEN '%s' AND '%s'", p.column, p.from, p.to)
		}
		day := ""
		if q.endpoint == breakdown {
			day = "day, "
		}
		selects = append(selects, "SELECT "+day+"product_key, marketplace, impressions, clicks, purchases, spend, sales FROM "+p.table+" WHERE "+where)
	}
	second, by := duckdbSQL.bits+" AS bits", "product_key"
	if q.endpoint == breakdown {
		second, by = "day AS bucket", "product_key, day"
	}
	sums := fmt.Sprintf("SELECT product_key, %s, %s FROM (%s) GROUP BY %s", second, fiveSums, strings.Join(selects, " UNION ALL "), by)
	return duckdbSQL.selectPage(q, fmt.Sprintf("AS sums JOIN products ON products.account = '%s' AND products.product_key = sums.product_key", q.account.id), sums)
}

// exportFacts is what DuckDB is given: the plain table's rows in its order.
const exportFacts = `SELECT account, day, marketplace, ad_product, product, product_key, campaign, ad_group, impressions, clicks, purchases, spend, sales
FROM bench_raw ORDER BY account, day, marketplace, ad_product, product, campaign, ad_group`

// duckTables are the plain table and the rollups, each in the order of its
// questions.
var duckTables = []string{
	`CREATE OR REPLACE TABLE facts AS SELECT account::VARCHAR AS account, day::DATE AS day, marketplace::UTINYINT AS marketplace, ad_product::UTINYINT AS ad_product,
		product::VARCHAR AS product, product_key::UINTEGER AS product_key, campaign::BIGINT AS campaign, ad_group::BIGINT AS ad_group, impressions::BIGINT AS impressions, clicks::BIGINT AS clicks, purchases::BIGINT AS purchases,
		spend::DECIMAL(18, 6) AS spend, sales::DECIMAL(18, 6) AS sales FROM read_parquet('%s')`,
	`CREATE OR REPLACE TABLE products AS SELECT DISTINCT account, product_key, product FROM facts ORDER BY ALL`,
	`CREATE OR REPLACE TABLE day_totals AS SELECT account, day, marketplace, ad_product, ` + duckSums + ` FROM facts GROUP BY ALL ORDER BY account, day`,
	`CREATE OR REPLACE TABLE month_products AS SELECT account, date_trunc('month', day)::DATE AS month, marketplace, ad_product, product_key, ` + duckSums + ` FROM facts GROUP BY ALL ORDER BY account, month`,
	`CREATE OR REPLACE TABLE year_products AS SELECT account, date_trunc('year', month)::DATE AS year, marketplace, ad_product, product_key, ` + duckSums + ` FROM month_products GROUP BY ALL ORDER BY account, year`,
	`CREATE OR REPLACE TABLE life_products AS SELECT account, marketplace, ad_product, product_key, ` + duckSums + ` FROM year_products GROUP BY ALL ORDER BY account, marketplace, ad_product`,
}

// duckCampaigns are the rollups for requests about campaigns.
var duckCampaigns = []string{
	`CREATE OR REPLACE TABLE day_campaigns AS SELECT account, day, marketplace, ad_product, campaign, ` + duckSums + ` FROM facts GROUP BY ALL ORDER BY account, day`,
	`CREATE OR REPLACE TABLE life_campaigns AS SELECT account, marketplace, ad_product, campaign, product, ` + duckSums + ` FROM facts GROUP BY ALL ORDER BY account, campaign`,
}

const duckSums = `sum(impressions)::BIGINT AS impressions, sum(clicks)::BIGINT AS clicks, sum(purchases)::BIGINT AS purchases, sum(spend)::DECIMAL(18, 6) AS spend, sum(sales)::DECIMAL(18, 6) AS sales`

// newDuckDB starts DuckDB and fills it where it is not filled.
func newDuckDB(ctx context.Context, r *raw, st *state, shape Shape, script, dir string, say func(string, ...any)) (plain, rollups *duckDB, err error) {
	file := filepath.Join(dir, "duckdb.db")
	if !st.DuckDB {
		os.Remove(file)
	}
	process, err := startDuckDB(script, file)
	if err != nil {
		return nil, nil, err
	}
	if !st.DuckDB {
		if err := fillDuckDB(ctx, process, r, shape, dir, say); err != nil {
			return nil, nil, errors.Join(err, process.close())
		}
		if err := st.markDone(&st.DuckDB); err != nil {
			return nil, nil, errors.Join(err, process.close())
		}
	}
	first, last := shape.heldDays()
	return &duckDB{"duckdb", process, r.places, false, first, last}, &duckDB{"duckdb rollups", process, r.places, true, first, last}, nil
}

func fillDuckDB(ctx context.Context, process *duckProcess, r *raw, shape Shape, dir string, say func(string, ...any)) error {
	began := time.Now()
	parquet := filepath.Join(dir, "facts.parquet")
	defer os.Remove(parquet)
	if err := r.engine.exportToFile(ctx, sql{text: exportFacts, format: "Parquet", writer: true}, parquet); err != nil {
		return err
	}
	statements := duckTables
	if shape.Campaigns > 0 {
		statements = slices.Concat(statements, duckCampaigns)
	}
	for i, statement := range append(statements, "CHECKPOINT") {
		if i == 0 {
			statement = fmt.Sprintf(statement, parquet)
		}
		if _, _, err := process.timeStatement(statement, false); err != nil {
			return err
		}
	}
	say("DuckDB is filled after %.1f s", time.Since(began).Seconds())
	return nil
}

// exportToFile writes a statement's rows to a file.
func (e *embedded) exportToFile(ctx context.Context, s sql, file string) error {
	body, err := e.streamStatement(ctx, s, nil)
	if err != nil {
		return err
	}
	defer body.Close()
	f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, body)
	return errors.Join(err, f.Close())
}
