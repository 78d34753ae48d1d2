package tables

import "context"

// Announcing returns a table as it has to be used where a store has replicas. If its rows
// announce others, what is read of it and after it has all that was written before: a replica
// has the newest rows of a table, and not of itself those before them. catchUp has the statements
// on some tables, or on all, that begin after it see what was written before they began.
func Announcing[R any](t Table[R], name string, catchUp func(tables ...string)) Table[R] {
	if d, _ := Find(name); !d.Announces {
		return t
	}
	return announcing[R]{t, name, catchUp}
}

type announcing[R any] struct {
	Table[R]
	name    string
	catchUp func(tables ...string)
}

func (t announcing[R]) Append(ctx context.Context, account string, rows ...R) error {
	defer t.catchUp()
	return t.Table.Append(ctx, account, rows...)
}

func (t announcing[R]) Read(ctx context.Context, account string) ([]R, error) {
	t.catchUp(t.name)
	defer t.catchUp()
	return t.Table.Read(ctx, account)
}

func (t announcing[R]) ReadAll(ctx context.Context) (map[string][]R, error) {
	t.catchUp(t.name)
	defer t.catchUp()
	return t.Table.ReadAll(ctx)
}
