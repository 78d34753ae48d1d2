package query

import (
	"fmt"

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

	Labels = "labels"
	names  = "names"
)

// FormatParams choose what an answer is written as.
type FormatParams struct {
	Format    string `query:"format"`
	Separator string `query:"separator"`
	Decimal   string `query:"decimal"`
	Headers   string `query:"headers"`
}

// Format is what an answer is written as, with every default filled in.
// Separator and Decimal are "" where the format is not CSV, and Headers where it is
// neither CSV nor XLSX.
type Format struct{ Name, Separator, Decimal, Headers string }

// Written is the format itself, for those who know a request by it alone.
func (f Format) Written() Format { return f }

// parseFormat finds the format requested. What belongs to some formats is refused
// with another: a client that sent it expects to see it.
func (p *parser) parseFormat(params FormatParams) Format {
	f := Format{Name: JSON}
	if !p.isUnrefused("format") {
		return f
	}
	if name, ok := canonicalValue(params.Format, catalogue.Formats); ok {
		f.Name = name
	}
	if f.Name == CSV || f.Name == XLSX {
		f.Headers = names
		if headers, ok := canonicalValue(params.Headers, catalogue.Headers); ok {
			f.Headers = headers
		}
	} else {
		p.refuseFormat("headers", params.Headers, f.Name, "formats csv and xlsx")
	}
	if f.Name != CSV {
		p.refuseFormat("separator", params.Separator, f.Name, "format csv")
		p.refuseFormat("decimal", params.Decimal, f.Name, "format csv")
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

// refuseFormat refuses a parameter that was sent with a format that it is not for.
func (p *parser) refuseFormat(parameter, value, format, wanted string) {
	if p.isValid(parameter, value) {
		p.addFault(parameter, adlens.Fault{Value: value, Code: adlens.ConflictingParameters,
			Detail: fmt.Sprintf("%s is for %s alone, and the format here is %s; send format=csv, or leave %s out", parameter, wanted, format, parameter)})
	}
}
