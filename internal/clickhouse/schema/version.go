package schema

import (
	"context"
	"fmt"

	"adlens/internal/clickhouse/conn"
	"adlens/internal/query"
)

// oldest is the oldest version of ClickHouse that is taken.
var oldest = version{25, 8}

// version is the first two numbers of a server's.
type version struct{ year, month int }

// requireVersion makes sure that a server is not older than it may be.
func requireVersion(ctx context.Context, s *conn.Server) error {
	has, err := conn.Value[string](ctx, s, "SELECT version()", nil)
	if err != nil {
		return err
	}
	return compareVersion(has, oldest)
}

func compareVersion(has string, needs version) error {
	var is version
	if _, err := fmt.Sscanf(has, "%d.%d", &is.year, &is.month); err != nil {
		return fmt.Errorf("the server says that it is version %q: %w", query.Text(has), err)
	}
	if is.year < needs.year || is.year == needs.year && is.month < needs.month {
		return &conn.OldServer{Has: has, Needs: fmt.Sprintf("%d.%d", needs.year, needs.month)}
	}
	return nil
}
