package clickhouse

import (
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"adlens"

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

func hexText(raw []byte) string { return hex.EncodeToString(raw) }

// milliseconds writes an instant for a parameter of type Int64, 0 for none.
func milliseconds(t *time.Time) string {
	if t == nil {
		return "0"
	}
	return strconv.FormatInt(t.UnixMilli(), 10)
}
