package main

import (
	"context"
	"strconv"
	"strings"
)

// Storage is what the tables take on the disk, active parts alone.
type Storage struct {
	Facts       int64   `json:"facts"` // rows
	FactBytes   int64   `json:"fact_bytes"`
	RollupBytes int64   `json:"rollup_bytes"`
	OtherBytes  int64   `json:"other_bytes"`
	Parts       int64   `json:"parts"`
	PerFact     float64 `json:"bytes_per_fact"`
	Share       float64 `json:"rollups_percent_of_facts"`
}

func (e *embedded) readStorage(ctx context.Context) (Storage, error) {
	rows, err := e.queryRows(ctx, sql{writer: true, text: `SELECT table, sum(rows), sum(bytes_on_disk), count()
		FROM system.parts WHERE database = 'adlens' AND active AND table != 'bench_raw' GROUP BY table`})
	var s Storage
	for _, row := range rows {
		var n [3]int64
		for i := range n {
			if n[i], err = strconv.ParseInt(row[1+i], 10, 64); err != nil {
				return s, err
			}
		}
		s.Parts += n[2]
		switch {
		case row[0] == "facts":
			s.Facts, s.FactBytes = n[0], n[1]
		case strings.HasSuffix(row[0], "_totals"), strings.HasSuffix(row[0], "_products"), strings.HasSuffix(row[0], "_ad_groups"):
			s.RollupBytes += n[1]
		default:
			s.OtherBytes += n[1]
		}
	}
	if s.Facts > 0 {
		s.PerFact = float64(s.FactBytes) / float64(s.Facts)
		s.Share = 100 * float64(s.RollupBytes) / float64(s.FactBytes)
	}
	return s, err
}
