package clickhouse

import (
	"context"
	"fmt"

	"adlens/internal/query"
)

// oldest is the oldest version of ClickHouse that is taken.
var oldest = version{25, 8}

// version is the first two numbers of a server's.
type version struct{ year, month int }

// oldServer is a server of a version that is too old.
type oldServer struct{ has, needs string }

func (o *oldServer) Error() string {
	return fmt.Sprintf("is version %s; expected %s or a later one", o.has, o.needs)
}

// atLeast makes sure that a server is not older than it may be.
func (s *server) atLeast(ctx context.Context, needs version) error {
	has, err := collect(ctx, s, "SELECT version()", nil, func(scan func(...any) error) (text string, err error) {
		err = scan(&text)
		return text, err
	})
	if err != nil {
		return err
	}
	var is version
	if _, err := fmt.Sscanf(has[0], "%d.%d", &is.year, &is.month); err != nil {
		return fmt.Errorf("the server says that it is version %q: %w", query.Text(has[0]), err)
	}
	if is.year < needs.year || is.year == needs.year && is.month < needs.month {
		return &oldServer{has[0], fmt.Sprintf("%d.%d", needs.year, needs.month)}
	}
	return nil
}
