package conn

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/go-json-experiment/json"
)

// Params are the values of a statement's parameters in the server's text
// form.
type Params map[string]string

// Rows are what a reading statement returns, and Batch is a block of columns
// that is inserted.
type (
	Rows  = driver.Rows
	Batch = driver.Batch
)

// Scan reads the values of a row.
type Scan = func(into ...any) error

// Reader runs reading statements: a server, or a cluster, which finds the
// server that holds the account.
type Reader interface {
	Read(ctx context.Context, sql string, params Params, read func(Rows) error) error
	// CatchUp lets what is read after it, of some tables or of all, have what was written
	// before that.
	CatchUp(tables ...string)
}

// EachRow visits the rows of a statement.
func EachRow(visit func(Scan) error) func(Rows) error {
	return func(rows Rows) error {
		for rows.Next() {
			if err := visit(rows.Scan); err != nil {
				return err
			}
		}
		return nil
	}
}

// ScanInto reads the values of a statement's last row; without a row, they stay
// what they are.
func ScanInto(into ...any) func(Rows) error {
	return EachRow(func(scan Scan) error { return scan(into...) })
}

// Collect runs a reading statement and returns one value for each row.
func Collect[T any](ctx context.Context, at Reader, sql string, params Params, scanOne func(Scan) (T, error)) ([]T, error) {
	var all []T
	err := at.Read(ctx, sql, params, func(rows Rows) error {
		all = all[:0]
		return EachRow(func(scan Scan) error {
			t, err := scanOne(scan)
			all = append(all, t)
			return err
		})(rows)
	})
	return all, err
}

// CollectValues runs a reading statement of one column and returns its values.
func CollectValues[T any](ctx context.Context, at Reader, sql string, params Params) ([]T, error) {
	return Collect(ctx, at, sql, params, func(scan Scan) (value T, err error) {
		err = scan(&value)
		return value, err
	})
}

// CollectMap runs a reading statement of two columns, a key and its value.
func CollectMap[K comparable, V any](ctx context.Context, at Reader, sql string, params Params) (map[K]V, error) {
	type pair struct {
		key   K
		value V
	}
	all, err := Collect(ctx, at, sql, params, func(scan Scan) (p pair, err error) {
		err = scan(&p.key, &p.value)
		return p, err
	})
	found := make(map[K]V, len(all))
	for _, p := range all {
		found[p.key] = p.value
	}
	return found, err
}

// CollectJSON runs a reading statement of one column of JSON and returns what its
// values hold.
func CollectJSON[T any](ctx context.Context, at Reader, sql string, params Params) ([]T, error) {
	return Collect(ctx, at, sql, params, func(scan Scan) (value T, err error) {
		var text string
		if err := scan(&text); err != nil {
			return value, err
		}
		return value, json.Unmarshal([]byte(text), &value)
	})
}

// Value runs a reading statement of one value, the zero value without a row.
func Value[T any](ctx context.Context, at Reader, sql string, params Params) (value T, err error) {
	err = at.Read(ctx, sql, params, ScanInto(&value))
	return value, err
}

// withParams gives a statement its parameters. Dates come as midnights of UTC: of the
// server's zone, as the driver has them without being told, some days have no midnight,
// and would be read as the day before.
func withParams(ctx context.Context, params Params) context.Context {
	return clickhouse.Context(ctx, clickhouse.WithParameters(clickhouse.Parameters(params)), clickhouse.WithUserLocation(time.UTC))
}

const (
	// longestParams is how many bytes the parameters of a statement take at most of the
	// address of a request: servers take 128 KiB of each and 1 MiB of all, unless they are
	// told otherwise.
	longestParams = 128 << 10
	// longestText is how many bytes a statement has at most that has lists in its text.
	longestText = 256 << 20
)

var placeholder = regexp.MustCompile(`\{([a-z0-9_]+):(Array\([A-Za-z0-9]+\))\}`)

// inlineLong puts the longest lists of numbers into the text of a statement, until the
// other parameters fit the address of its request. A search may find most products of an
// account, and a report of all measures has lists of months for each.
func inlineLong(ctx context.Context, sql string, params Params) (context.Context, string, Params) {
	size := 0
	for name, value := range params {
		size += addressBytes(name, value)
	}
	if size <= longestParams {
		return ctx, sql, params
	}
	var lists []string
	for _, parts := range placeholder.FindAllStringSubmatch(sql, -1) {
		if value := params[parts[1]]; value != "" && strings.Trim(value, "0123456789,[]") == "" {
			lists = append(lists, parts[1])
		}
	}
	slices.SortFunc(lists, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(params[b]), len(params[a])), strings.Compare(a, b))
	})
	short := maps.Clone(params)
	for _, name := range slices.Compact(lists) {
		if size <= longestParams {
			break
		}
		size -= addressBytes(name, params[name])
		delete(short, name)
	}
	sql = placeholder.ReplaceAllStringFunc(sql, func(text string) string {
		parts := placeholder.FindStringSubmatch(text)
		if _, stays := short[parts[1]]; stays {
			return text
		}
		return "CAST(" + params[parts[1]] + ", '" + parts[2] + "')"
	})
	return clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"max_query_size": longestText})), sql, short
}

// addressBytes returns how many bytes a parameter takes of the address of a request.
func addressBytes(name, value string) int {
	return len("&param_=") + len(name) + len(url.QueryEscape(value))
}

// Number writes a parameter of an integer type.
func Number[N uint16 | uint32](n N) string { return strconv.FormatUint(uint64(n), 10) }

// QuoteIdentifier quotes a name that the operator chose.
func QuoteIdentifier(name string) string {
	return "`" + strings.NewReplacer(`\`, `\\`, "`", "\\`").Replace(name) + "`"
}

// DecodeColumn fills a column of a block with values as the server stores them.
func DecodeColumn(batch Batch, column int, native []byte, rows int) error {
	return batch.Columns()[column].Decode(proto.NewReader(bytes.NewReader(native)), rows)
}
