package conn

import (
	"context"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// prompt is the key of how long a server waits for the rows of an insert.
type prompt struct{}

// Promptly returns a context in which a server ends an insert whose rows do not come within a
// time, in whole seconds, after it took the statement. Over the native protocol it takes the
// statement before the block is filled: what is looked at while that is done is true when the
// rows come, or they are refused.
func Promptly(ctx context.Context, within time.Duration) context.Context {
	return context.WithValue(ctx, prompt{}, within)
}

// promptSettings are the settings of a statement in a context of Promptly.
func promptSettings(ctx context.Context) clickhouse.Settings {
	within, ok := ctx.Value(prompt{}).(time.Duration)
	if !ok {
		return clickhouse.Settings{}
	}
	return clickhouse.Settings{"receive_timeout": int(within.Seconds())}
}

// withPromptness has the driver send them, where there are such.
func withPromptness(ctx context.Context) context.Context {
	settings := promptSettings(ctx)
	if len(settings) == 0 {
		return ctx
	}
	return clickhouse.Context(ctx, clickhouse.WithSettings(settings))
}
