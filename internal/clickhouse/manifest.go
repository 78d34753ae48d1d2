package clickhouse

import (
	"context"

	"adlens"
	"adlens/internal/commits"
	"adlens/internal/manifest"
)

// Manifest reads what of an account is visible now.
func (db *DB) Manifest(ctx context.Context, account string) (manifest.Manifest, error) {
	state, err := commits.Read(ctx, db.Tables(), account)
	if adlens.KindOf(err) == adlens.Damaged && ctx.Value(inspecting{}) == nil {
		db.guard.sound(err)
	}
	return state.Manifest, err
}

// announced changes what is visible of an account, telling the readers in all
// processes.
func (db *DB) announced(account string, change func() error) error {
	marks := db.home.source.Marks()
	if marks == nil {
		return change()
	}
	settle, err := marks.Change(account)
	if err != nil {
		return err
	}
	// After an error it is not known what became of the insert, and a mark that
	// cannot be set says the same: the change stays under way for readers,
	// who then ask each time.
	if err := change(); err != nil {
		return err
	}
	return settle()
}
