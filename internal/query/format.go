package query

import (
	"fmt"
	"slices"

	"adlens"
	"adlens/internal/catalogue"
)

// The formats of an answer, and how CSV is written.
const (
	JSON    = "json"
	CSV     = "csv"
	XLSX    = "xlsx"
	Parquet = "parquet"
	NDJSON  = "ndjson"

	Comma     = "comma"
	Semicolon = "semicolon"
	Tab       = "tab"
	point     = "point"
)

// FormatParams choose what an answer is written as.
type FormatParams struct {
	Format    string `query:"format"`
	Separator string `query:"separator"`
	Decimal   string `query:"decimal"`
}

// Format is what an answer is written as, with every default filled in.
// Separator and Decimal are "" where the format is not CSV.
type Format struct{ Name, Separator, Decimal string }

// Written is the format itself, for those who know a request by it alone.
func (f Format) Written() Format { return f }

// parseFormat finds the format asked for. What belongs to CSV is refused beside
// another format: who sent it expects to see it.
func (p *parser) parseFormat(params FormatParams) Format {
	f := Format{Name: JSON}
	if name, ok := canonicalValue(params.Format, catalogue.Formats); ok {
		f.Name = name
	} else if params.Format != "" {
		return f
	}
	if f.Name != CSV {
		p.onlyCSV("separator", params.Separator, f.Name)
		p.onlyCSV("decimal", params.Decimal, f.Name)
		return f
	}
	f.Separator, f.Decimal = Comma, point
	if separator, ok := canonicalValue(params.Separator, catalogue.Separators); ok {
		f.Separator = separator
	}
	if decimal, ok := canonicalValue(params.Decimal, catalogue.Decimals); ok {
		f.Decimal = decimal
	}
	return f
}

func (p *parser) onlyCSV(parameter, value, format string) {
	if p.isValid(parameter, value) {
		p.addFault(parameter, adlens.Fault{Value: value, Code: adlens.ConflictingParameters,
			Detail: fmt.Sprintf("%s is for format csv alone, and the format here is %s; send format=csv, or leave %s out", parameter, format, parameter)})
	}
}

// IsTable reports whether a format has columns instead of nested values.
func (f Format) IsTable() bool { return slices.Contains([]string{CSV, XLSX, Parquet}, f.Name) }
