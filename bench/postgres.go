package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// postgres is a PostgreSQL server of the benchmark's own, asked through one
// psql that stays open.
type postgres struct {
	bin    string // its programs
	dir    string // data and socket
	places map[string]places
	psql   *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
}

// postgresSettings suit a machine of which the server may take a part. Who asks
// parallel workers works too, so there is one fewer of them than cores: two on
// two cores took longer than one.
var postgresSettings = []string{
	"shared_buffers=2GB", "work_mem=512MB", "maintenance_work_mem=1GB", "effective_cache_size=8GB",
	fmt.Sprintf("max_parallel_workers_per_gather=%d", runtime.NumCPU()-1), "random_page_cost=1.1", "max_wal_size=4GB", "checkpoint_timeout=1h",
	"wal_level=minimal", "max_wal_senders=0", "fsync=off", "listen_addresses=''",
}

// postgresTable is filled in the order of account and day, so that the index on
// them reads neighbours. Amounts are whole millionths, which add up faster than
// numeric and as exactly. Only a shape with campaigns has columns for them, because
// every statement reads whole rows.
const postgresTable = `CREATE TABLE facts (account text COLLATE "C", day date, marketplace smallint, ad_product smallint, product text COLLATE "C",%s
	impressions bigint, clicks bigint, purchases bigint, spend bigint, sales bigint)`

// postgresAfter is done once the rows are there, which were copied in frozen and
// visible to all: nothing is left for a vacuum.
var postgresAfter = []string{`CREATE INDEX ON facts (account, day)`, `ANALYZE facts`}

// findPostgres finds the newest server of Debian's packages, or what is in the
// path.
func findPostgres() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	slices.Sort(found)
	if initdb, err := exec.LookPath("initdb"); err == nil {
		found = append([]string{initdb}, found...)
	}
	if len(found) == 0 {
		return "", fmt.Errorf("initdb: %w", errAbsent)
	}
	return filepath.Dir(found[len(found)-1]), nil
}

// newPostgres starts a server, makes and fills it where it is not there yet.
func newPostgres(ctx context.Context, r *raw, st *state, shape Shape, dir string, say func(string, ...any)) (*postgres, error) {
	bin, err := findPostgres()
	if err != nil {
		return nil, err
	}
	p := &postgres{bin: bin, dir: filepath.Join(dir, "postgres"), places: r.places}
	if !st.Postgres {
		if err := p.initDatabase(ctx); err != nil {
			return nil, err
		}
	}
	if err := p.startServer(ctx); err != nil {
		return nil, err
	}
	if !st.Postgres {
		if err := p.fillTable(ctx, r, shape, say); err != nil {
			return nil, errors.Join(err, p.close())
		}
		return p, st.markDone(&st.Postgres)
	}
	return p, nil
}

// serverOwner is the account that the server runs as: it refuses to be root.
func (p *postgres) serverOwner() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		if u, err = user.Lookup("nobody"); err != nil {
			return nil, err
		}
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.Atoi(u.Gid)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, err
}

func (p *postgres) prepareCommand(ctx context.Context, name string, args ...string) (*exec.Cmd, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(p.bin, name), args...)
	owner, err := p.serverOwner()
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: owner}
	cmd.Dir = p.dir
	return cmd, err
}

func (p *postgres) runCommand(ctx context.Context, name string, args ...string) error {
	cmd, err := p.prepareCommand(ctx, name, args...)
	if err != nil {
		return err
	}
	// A file, not a pipe: the server keeps what it inherits.
	log, err := os.CreateTemp("", "adlens-bench-postgres-")
	if err != nil {
		return err
	}
	defer os.Remove(log.Name())
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Run(); err != nil {
		text, _ := os.ReadFile(log.Name())
		return fmt.Errorf("%s: %w: %s", name, err, text)
	}
	return nil
}

func (p *postgres) initDatabase(ctx context.Context) error {
	if err := os.RemoveAll(p.dir); err != nil {
		return err
	}
	if err := os.Mkdir(p.dir, 0o700); err != nil {
		return err
	}
	owner, err := p.serverOwner()
	if err != nil {
		return err
	}
	if owner != nil {
		// Its owner must get through the directory above, and see nothing of it.
		if err := os.Chmod(filepath.Dir(p.dir), 0o711); err != nil {
			return err
		}
		if err := os.Chown(p.dir, int(owner.Uid), int(owner.Gid)); err != nil {
			return err
		}
	}
	return p.runCommand(ctx, "initdb", "-D", filepath.Join(p.dir, "data"), "-U", "bench", "-A", "trust", "--locale=C", "-E", "UTF8")
}

func (p *postgres) startServer(ctx context.Context) error {
	options := "-k " + p.dir
	for _, s := range postgresSettings {
		options += " -c " + s
	}
	if err := p.runCommand(ctx, "pg_ctl", "-D", filepath.Join(p.dir, "data"), "-l", filepath.Join(p.dir, "log"), "-w", "-t", "60", "-o", options, "start"); err != nil {
		return err
	}
	cmd, err := p.prepareCommand(context.Background(), "psql", "-X", "-q", "-A", "-t", "-F", "\t", "-h", p.dir, "-U", "bench", "-d", "postgres")
	if err != nil {
		return err
	}
	p.psql = cmd
	if p.in, err = cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	cmd.Stderr = cmd.Stdout // an error stands where the rows would
	p.out = bufio.NewReaderSize(out, 1<<20)
	if err := cmd.Start(); err != nil {
		return err
	}
	_, err = io.WriteString(p.in, "\\timing on\n")
	return err
}

const endOfAnswer = "-- end of the answer --"

// timeStatement runs a statement and returns psql's own time for it, all rows fetched.
func (p *postgres) timeStatement(statement string) (time.Duration, [][]string, error) {
	if _, err := fmt.Fprintf(p.in, "%s;\n\\echo %s\n", statement, "'"+endOfAnswer+"'"); err != nil {
		return 0, nil, err
	}
	var text []byte
	for {
		line, err := p.out.ReadString('\n')
		if err != nil {
			return 0, nil, err
		}
		if strings.TrimSpace(line) == endOfAnswer {
			break
		}
		text = append(text, line...)
	}
	rows := splitRows(text)
	if len(rows) == 0 || !strings.HasPrefix(rows[len(rows)-1][0], "Time: ") {
		return 0, nil, fmt.Errorf("PostgreSQL: %s in %s", text, statement)
	}
	var ms float64
	if _, err := fmt.Sscanf(rows[len(rows)-1][0], "Time: %f ms", &ms); err != nil {
		return 0, nil, err
	}
	if len(rows) > 1 && strings.HasPrefix(rows[0][0], "ERROR:") {
		return 0, nil, fmt.Errorf("PostgreSQL: %s in %s", text, statement)
	}
	return time.Duration(ms * float64(time.Millisecond)), rows[:len(rows)-1], nil
}

// fillTable copies the plain table's rows.
func (p *postgres) fillTable(ctx context.Context, r *raw, shape Shape, say func(string, ...any)) error {
	began := time.Now()
	columns, selected, after := "", "", postgresAfter
	if shape.Campaigns > 0 {
		columns, selected, after = " campaign bigint, ad_group bigint,", "campaign, ad_group,", append([]string{`CREATE INDEX ON facts (account, campaign)`}, after...)
	}
	rows, err := r.engine.streamStatement(ctx, sql{writer: true, text: `SELECT account, day, marketplace, ad_product, product, ` + selected + ` impressions, clicks, purchases,
		toInt64(spend * 1000000), toInt64(sales * 1000000) FROM bench_raw ORDER BY account, day, marketplace, ad_product, product`}, nil)
	if err != nil {
		return err
	}
	defer rows.Close()
	// Into a table of its own transaction rows go without a log of their own.
	copying, err := p.prepareCommand(ctx, "psql", "-X", "-q", "-h", p.dir, "-U", "bench", "-d", "postgres", "-1", "-c", fmt.Sprintf(postgresTable, columns), "-c", "COPY facts FROM STDIN (FREEZE)")
	if err != nil {
		return err
	}
	copying.Stdin = rows
	if text, err := copying.CombinedOutput(); err != nil {
		return fmt.Errorf("COPY: %w: %s", err, text)
	}
	for _, statement := range after {
		if _, _, err := p.timeStatement(statement); err != nil {
			return err
		}
	}
	say("PostgreSQL is filled after %.1f s", time.Since(began).Seconds())
	return nil
}

func (p *postgres) contestantName() string { return "postgres" }

func (p *postgres) askQuestion(_ context.Context, q *question) (reply, error) {
	where := " WHERE " + q.rowPredicate(p.places[q.account.id].keysByCountry())
	took, rows, err := p.timeStatement(postgresSQL.selectAnswer(q, "facts", where))
	return reply{took, nil, func() ([]string, error) { return q.readPeer(rows, true) }}, err
}

// close stops the server; its data stays.
func (p *postgres) close() error {
	var err error
	if p.psql != nil {
		p.in.Close()
		err = p.psql.Wait()
	}
	return errors.Join(err, p.runCommand(context.Background(), "pg_ctl", "-D", filepath.Join(p.dir, "data"), "-m", "fast", "-w", "stop"))
}
