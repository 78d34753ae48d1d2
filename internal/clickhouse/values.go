package clickhouse

import (
	"encoding/hex"
	"math/big"
	"strconv"
	"strings"
	"time"

	"adlens"
	"adlens/internal/exact"

	"github.com/shopspring/decimal"
)

// identifier quotes a name that the operator chose.
func identifier(name string) string {
	return "`" + strings.NewReplacer(`\`, `\\`, "`", "\\`").Replace(name) + "`"
}

// unitsDecimal is a Decimal(38, 20) of an exact amount.
func unitsDecimal(a adlens.Amount) decimal.Decimal {
	return decimal.NewFromBigInt(a.Big(), -adlens.AmountDecimals)
}

// noSum is what equals no sum, so that every check of it fails.
var noSum = adlens.AmountOf(exact.Uint128{Hi: 1<<64 - 1, Lo: 1<<64 - 1})

// amountOf reads units; what 128 bits do not hold becomes noSum.
func amountOf(n *big.Int) adlens.Amount {
	units, ok := exact.Uint128Of(n)
	if !ok {
		return noSum
	}
	return adlens.AmountOf(units)
}

func hexText(raw []byte) string { return hex.EncodeToString(raw) }

// milliseconds writes an instant for a parameter of type Int64, 0 for none.
func milliseconds(t *time.Time) string {
	if t == nil {
		return "0"
	}
	return strconv.FormatInt(t.UnixMilli(), 10)
}
