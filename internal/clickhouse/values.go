package clickhouse

import (
	"encoding/hex"
	"math/big"
	"strings"

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

var lowWord = new(big.Int).SetUint64(1<<64 - 1)

// amountOf reads an unsigned number of 128 bits.
func amountOf(n *big.Int) adlens.Amount {
	lo := new(big.Int).And(n, lowWord).Uint64()
	return adlens.AmountOf(new(big.Int).Rsh(n, 64).Uint64(), lo)
}

func hexText(raw []byte) string { return hex.EncodeToString(raw) }
