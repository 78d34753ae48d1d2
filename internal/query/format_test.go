package query

import (
	"testing"

	"adlens"
)

func TestAFormatHasItsDefaults(t *testing.T) {
	for params, want := range map[FormatParams]Format{
		{}:               {Name: JSON},
		{Format: "JSON"}: {Name: JSON},
		{Format: " Csv"}: {CSV, Comma, point, names},
		{Format: "csv", Separator: "TAB", Decimal: "comma"}:       {CSV, Tab, Comma, names},
		{Format: "csv", Separator: "semicolon", Decimal: "point"}: {CSV, Semicolon, point, names},
		{Format: "csv", Headers: " Labels"}:                       {CSV, Comma, point, Labels},
		{Format: "xlsx"}:                                          {Name: XLSX, Headers: names},
		{Format: "xlsx", Headers: "labels"}:                       {Name: XLSX, Headers: Labels},
		{Format: "parquet"}:                                       {Name: Parquet},
		{Format: "ndjson"}:                                        {Name: NDJSON},
	} {
		r, faults := ParsePlain(params, exampleView(), now)
		if len(faults) > 0 || r.Format != want {
			t.Errorf("%v is %v, want %v; %v", params, r.Format, want, faults)
		}
	}
}

func TestWhatIsForSomeFormatsIsRefusedWithAnother(t *testing.T) {
	for params, want := range map[FormatParams][]adlens.Code{
		{Separator: "tab"}: {adlens.ConflictingParameters},
		{Format: "xlsx", Separator: "comma", Decimal: "comma"}:     {adlens.ConflictingParameters, adlens.ConflictingParameters},
		{Format: "json", Decimal: "point"}:                         {adlens.ConflictingParameters},
		{Format: "json", Decimal: "pt"}:                            {adlens.UnknownValue}, // one thing is reported of it
		{Format: "excel", Separator: "tab"}:                        {adlens.UnknownValue}, // which format it is to be is not known
		{Format: "csv", Separator: ",", Decimal: "."}:              {adlens.UnknownValue, adlens.UnknownValue},
		{Headers: "labels"}:                                        {adlens.ConflictingParameters},
		{Format: "parquet", Headers: "names", Decimal: "point"}:    {adlens.ConflictingParameters, adlens.ConflictingParameters},
		{Format: "xlsx", Headers: "label"}:                         {adlens.UnknownValue},
		{Format: "csv", Separator: "semicolon ", Decimal: "POINT"}: nil,
	} {
		_, faults := ParsePlain(params, exampleView(), now)
		var got []adlens.Code
		for _, f := range faults {
			got = append(got, f.Code)
		}
		if len(got) != len(want) || len(got) > 0 && got[0] != want[0] {
			t.Errorf("%v: %v, want %v", params, got, want)
		}
	}
}

// Each format, separator, decimal and kind of headers is an answer of its own.
func TestFormatsHaveTheirIdentity(t *testing.T) {
	known := map[string]FormatParams{}
	for _, params := range []FormatParams{{}, {Format: "csv"}, {Format: "csv", Separator: "tab"}, {Format: "csv", Decimal: "comma"},
		{Format: "csv", Separator: "semicolon"}, {Format: "csv", Headers: "labels"}, {Format: "xlsx"}, {Format: "xlsx", Headers: "labels"}, {Format: "parquet"}, {Format: "ndjson"}} {
		id := identityOf(t, ProductParams{FormatParams: params}, exampleView(), now)
		if other, taken := known[id]; taken {
			t.Errorf("%v and %v are one answer", params, other)
		}
		known[id] = params
	}
	plain, spelled := FormatParams{Format: "csv"}, FormatParams{Format: "CSV", Separator: "comma", Decimal: "Point", Headers: "Names"}
	if identityOf(t, ProductParams{FormatParams: plain}, exampleView(), now) != identityOf(t, ProductParams{FormatParams: spelled}, exampleView(), now) {
		t.Error("defaults spelled out are another answer")
	}
}
