package main

import (
	"strings"
	"testing"

	"adlens/internal/answer"
	"adlens/internal/query"

	"github.com/spf13/cobra"
)

func TestTheCommandLineChoosesAFormatBeforeVariables(t *testing.T) {
	for _, c := range []struct {
		variables map[string]string
		args      string
		request   string // its parameter format
		want      string // the format, or refused
	}{
		{map[string]string{"ADLENS_JSON": "true"}, "", "", "json"},
		{map[string]string{"ADLENS_JSON": "true"}, "--format csv", "", "csv"},
		{map[string]string{"ADLENS_JSON": "true"}, "", "csv", "csv"},
		{map[string]string{"ADLENS_JSON": "true"}, "--json", "csv", "refused"},
		{map[string]string{"ADLENS_FORMAT": "ndjson"}, "--json", "", "json"},
		{map[string]string{"ADLENS_FORMAT": "ndjson"}, "--json=false", "", "ndjson"},
		{map[string]string{"ADLENS_FORMAT": "ndjson"}, "", "csv", "csv"},
		{map[string]string{"ADLENS_FORMAT": "ndjson", "ADLENS_JSON": "true"}, "", "", "refused"},
		{nil, "--json --format csv", "", "refused"},
		{nil, "", "", "csv"},
	} {
		t.Run(strings.Join([]string{c.args, c.request, c.want}, " "), func(t *testing.T) {
			for name, value := range c.variables {
				t.Setenv(name, value)
			}
			o := &options{}
			root, figures := &cobra.Command{}, newFigures(o)
			root.PersistentFlags().BoolVar(&o.json, "json", false, "")
			root.AddCommand(figures)
			if err := figures.ParseFlags(strings.Fields(c.args)); err != nil {
				t.Fatal(err)
			}
			if err := fromEnvironment(figures.Flags()); err != nil {
				t.Fatal(err)
			}
			var request answer.Request
			if c.request != "" {
				request.Parameters = []answer.Parameter{{Name: "format", Value: c.request}}
			}
			got, err := o.figuresFormat(figures, figures.Flag("format").Value.String(), request, false)
			if err != nil {
				got = "refused"
			}
			if got != c.want {
				t.Errorf("with %v it is %q, expected %q: %v", c.variables, got, c.want, err)
			}
		})
	}
}

// What a cap leaves out is no success, and no advice leads there.
func TestRowsThatWereNotPrintedAreTold(t *testing.T) {
	for _, c := range []struct {
		pages        answer.Pages
		told, failed string
	}{
		{answer.Pages{Paging: query.Paging{Page: 1, PageSize: 10}, Rows: 10}, "", ""},
		{answer.Pages{Paging: query.Paging{Page: 1, PageSize: 10}, Rows: 11}, "page 1 of 2, of 11 rows; page=2 is the next, and page_size=all prints all of them\n", ""},
		{answer.Pages{Paging: query.Paging{Page: 2, PageSize: 10}, Rows: query.MaxRows + 1}, "page 2 of 10001, of 100001 rows; page=3 is the next\n", ""},
		{answer.Pages{Paging: query.Paging{All: true, Page: 1, PageSize: query.MaxRows}, Rows: query.MaxRows + 1, Truncated: true}, "", "100000 of 100001 rows were printed"},
	} {
		var told strings.Builder
		err := printPages(&told, "report", c.pages)
		if told.String() != c.told || (err == nil) != (c.failed == "") || err != nil && !strings.HasPrefix(err.Error(), c.failed) {
			t.Errorf("%+v: %q, %v", c.pages, told.String(), err)
		}
	}
}
