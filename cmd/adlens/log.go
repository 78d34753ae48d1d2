package main

import (
	"time"

	"adlens"

	"go.uber.org/zap/zapcore"
)

// encodeTime writes instants of the log as those of the API.
func encodeTime(t time.Time, to zapcore.PrimitiveArrayEncoder) { to.AppendString(adlens.FormatTime(t)) }
