package commits

import (
	"context"

	"adlens/internal/tables"
)

// FenceOff has no commit become live any more that an earlier writer has under way.
func FenceOff(ctx context.Context, port tables.Port, account, token string) error {
	s, err := Begin(ctx, port, account, token)
	if err != nil {
		return err
	}
	return s.End(ctx)
}
