package clickhouse

import (
	"fmt"
	"io"
	"testing"

	"adlens/internal/backup"
	"adlens/internal/clickhouse/conn"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// What 100,000 facts cost to read for a backup: as the rows that the server
// writes into a column, which any protocol carries, and in formats that only
// HTTP hands out.
func BenchmarkExport(b *testing.B) {
	d := openShared(b)
	if err := d.Cluster.Exec(b.Context(), fmt.Sprintf(someFacts, "facts", 4000), conn.Params{"generation": "1"}); err != nil {
		b.Fatal(err)
	}
	h, err := d.Source.Columns(b.Context(), "facts")
	if err != nil {
		b.Fatal(err)
	}
	b.Run("formatRow", func(b *testing.B) {
		for b.Loop() {
			err := d.Source.Export(b.Context(), backup.Extent{Table: "facts", Account: "a", Generations: []uint32{1}}, h, func([]byte) error { return nil })
			if err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, format := range []string{"RowBinary", "Native", "Parquet"} {
		b.Run(format, func(b *testing.B) {
			for b.Loop() {
				if err := exportAs(b, d.Database, format); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func exportAs(b *testing.B, db *Database, format string) error {
	target, err := db.Cluster.Home().Source().Target(b.Context())
	if err != nil {
		return err
	}
	owner, err := clickhouse.Open(target.Writer)
	if err != nil {
		return err
	}
	defer owner.Close()
	stream, err := owner.QueryFormat(b.Context(), format, "SELECT * FROM facts WHERE account_id = 'a' AND generation = 1")
	if err != nil {
		return err
	}
	defer stream.Close()
	_, err = io.Copy(io.Discard, stream)
	return err
}
