package extracts

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"adlens"
)

// aNumber begins the values of a workbook that are numbers.
const aNumber = "\x01"

// consoleWorkbook writes a workbook as the console does: texts in their cells, days
// and numbers as numbers, some with what floats leave behind.
func consoleWorkbook(kind string, d description, facts []consoleFact) ([]byte, error) {
	k := consoleKinds[kind]
	number := func(hundredths int64, odd bool) string {
		text := strconv.FormatFloat(float64(hundredths)/100, 'g', -1, 64)
		if odd {
			text = strconv.FormatFloat(float64(hundredths)/100, 'e', 16, 64)
		}
		return aNumber + text
	}
	headers, row := k.columns(d, func(f consoleFact, h string) string {
		switch h {
		case k.date:
			return fmt.Sprintf(aNumber+"%d", int64(adlens.DayOf(f.day))+25569)
		case k.cost:
			return number(f.cost, f.isBare)
		case k.sales:
			if f.withoutSales {
				return ""
			}
			return number(f.sales, !f.isBare)
		case k.impressions, k.clicks, k.units, k.orders:
			if text := f.plain(k, d, h); text != "" {
				return aNumber + text
			}
			return ""
		}
		if text := f.plain(k, d, h); text != "0" {
			return text
		}
		return aNumber + "0"
	})
	var sheet bytes.Buffer
	sheet.WriteString(`<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><dimension ref="A1"/><sheetData>`)
	for i, values := range append([][]string{headers}, rowsOf(facts, row)...) {
		fmt.Fprintf(&sheet, `<row r="%d">`, i+1)
		for j, value := range values {
			place := fmt.Sprintf("%c%d", 'A'+j, i+1)
			if text, isNumber := strings.CutPrefix(value, aNumber); isNumber {
				fmt.Fprintf(&sheet, `<c r="%s" t="n"><v>%s</v></c>`, place, text)
			} else if value != "" {
				fmt.Fprintf(&sheet, `<c r="%s" t="inlineStr"><is><t xml:space="preserve">`, place)
				if err := xml.EscapeText(&sheet, []byte(value)); err != nil {
					return nil, err
				}
				sheet.WriteString("</t></is></c>")
			}
		}
		sheet.WriteString("</row>")
	}
	sheet.WriteString("</sheetData></worksheet>")
	return archiveOf(map[string]string{
		"xl/workbook.xml":            `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="S" sheetId="1" r:id="rId3"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId3" Target="worksheets/sheet1.xml"/></Relationships>`,
		"docProps/core.xml": `<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" xmlns:dcterms="http://purl.org/dc/terms/"><dcterms:created>` +
			d.generated.UTC().Format(time.RFC3339) + `</dcterms:created></cp:coreProperties>`,
		"xl/worksheets/sheet1.xml": sheet.String(),
	})
}

func rowsOf(facts []consoleFact, row func(consoleFact) []string) (rows [][]string) {
	for _, f := range facts {
		rows = append(rows, row(f))
	}
	return rows
}

func archiveOf(parts map[string]string) ([]byte, error) {
	var b bytes.Buffer
	archive := zip.NewWriter(&b)
	for _, name := range []string{"xl/workbook.xml", "xl/_rels/workbook.xml.rels", "docProps/core.xml", "xl/worksheets/sheet1.xml"} {
		part, err := archive.Create(name)
		if err == nil {
			_, err = io.WriteString(part, parts[name])
		}
		if err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
