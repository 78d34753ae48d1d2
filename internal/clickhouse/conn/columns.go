package conn

import (
	"context"
	"regexp"
	"strings"
	"sync"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// columnTypes are the types of all columns of a session's database, by table and column.
// Over HTTP the driver needs them for a block of columns, and would ask the server for
// those of the table before each insert.
type columnTypes struct {
	mu      sync.Mutex
	byTable map[string]map[string]string // nil until they were read
}

// insertion has the table and the columns of an insert.
var insertion = regexp.MustCompile(`^INSERT INTO (\w+) \((.+)\)$`)

// withTypes returns a context in which the driver knows the types of the columns of an
// insert. Where they are not known here, it asks for them itself.
func (c *Session) withTypes(ctx context.Context, sql string) context.Context {
	names := insertion.FindStringSubmatch(sql)
	if !c.writerHTTP || names == nil {
		return ctx
	}
	types := c.readTypes(ctx)[names[1]]
	var columns []clickhouse.ColumnNameAndType
	for name := range strings.SplitSeq(names[2], ", ") {
		is, ok := types[name]
		if !ok {
			return ctx
		}
		columns = append(columns, clickhouse.ColumnNameAndType{Name: name, Type: is})
	}
	return clickhouse.Context(ctx, clickhouse.WithColumnNamesAndTypes(columns))
}

// readTypes reads the types once. After an error there are none yet: the insert meets the
// same one.
func (c *Session) readTypes(ctx context.Context) map[string]map[string]string {
	c.types.mu.Lock()
	defer c.types.mu.Unlock()
	if c.types.byTable != nil {
		return c.types.byTable
	}
	all := map[string]map[string]string{}
	err := c.Read(ctx, "SELECT table, name, type FROM system.columns WHERE database = currentDatabase()", nil, EachRow(func(scan Scan) error {
		var table, name, is string
		err := scan(&table, &name, &is)
		if all[table] == nil {
			all[table] = map[string]string{}
		}
		all[table][name] = is
		return err
	}))
	if err != nil {
		return nil
	}
	c.types.byTable = all
	return all
}
