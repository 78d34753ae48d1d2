package clickhouse

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"

	"adlens"

	"github.com/shopspring/decimal"
)

// identifier quotes a name that the operator chose.
func identifier(name string) string {
	return "`" + strings.NewReplacer(`\`, `\\`, "`", "\\`").Replace(name) + "`"
}

// textParam is a String parameter in the server's escaped form.
func textParam(text string) string {
	return strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`).Replace(text)
}

// numbersParam is an Array(UInt32) parameter.
func numbersParam[N ~uint32](numbers []N) string {
	var b strings.Builder
	b.WriteByte('[')
	for i, n := range numbers {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprint(&b, uint32(n))
	}
	b.WriteByte(']')
	return b.String()
}

// micros is a Decimal(18, 6) of millionths.
func micros(n uint64) decimal.Decimal { return decimal.New(int64(n), -6) }

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
