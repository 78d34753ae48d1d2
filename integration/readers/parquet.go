package readers

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
)

// Parquet reads a file, and what its metadata says under "adlens".
func Parquet(file []byte) (t Table, about string, err error) {
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return t, "", err
	}
	about, _ = f.Lookup("adlens")
	fields := f.Schema().Fields()
	for _, field := range fields {
		t.Columns = append(t.Columns, field.Name())
	}
	r := parquet.NewReader(f)
	defer r.Close()
	buffer := make([]parquet.Row, 100)
	for {
		n, err := r.ReadRows(buffer)
		for _, row := range buffer[:n] {
			values := make([]*string, len(fields))
			for _, v := range row {
				if values[v.Column()], err = parquetText(fields[v.Column()], v); err != nil {
					return t, about, err
				}
			}
			t.Rows = append(t.Rows, values)
		}
		if errors.Is(err, io.EOF) {
			return t, about, nil
		}
		if err != nil {
			return t, about, err
		}
	}
}

func parquetText(field parquet.Field, v parquet.Value) (*string, error) {
	if v.IsNull() {
		return nil, nil
	}
	var text string
	switch logical := field.Type().LogicalType(); {
	case logical == nil && v.Kind() == parquet.Boolean:
		text = strconv.FormatBool(v.Boolean())
	case logical == nil:
		return nil, fmt.Errorf("%s has no logical type", field.Name())
	default:
		switch kind := field.Type().String(); {
		case strings.HasPrefix(kind, "DECIMAL"):
			n := new(big.Int).SetBytes(v.ByteArray())
			if v.ByteArray()[0] >= 0x80 {
				n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(v.ByteArray()))))
			}
			var precision, scale int
			if _, err := fmt.Sscanf(kind, "DECIMAL(%d,%d)", &precision, &scale); err != nil {
				return nil, fmt.Errorf("%s: %w", kind, err)
			}
			text = new(big.Rat).SetFrac(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)).FloatString(scale)
		case strings.HasPrefix(kind, "DATE"):
			text = time.Unix(int64(v.Int32())*86400, 0).UTC().Format(time.DateOnly)
		case strings.HasPrefix(kind, "TIMESTAMP"):
			text = time.UnixMilli(v.Int64()).UTC().Format("2006-01-02T15:04:05.000Z")
		case strings.HasPrefix(kind, "INT"):
			text = strconv.FormatInt(v.Int64(), 10)
		case kind == "STRING":
			text = string(v.ByteArray())
		default:
			return nil, fmt.Errorf("%s is %s", field.Name(), kind)
		}
	}
	return &text, nil
}
