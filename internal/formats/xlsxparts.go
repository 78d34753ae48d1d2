package formats

import (
	"fmt"
	"strings"
)

const (
	xlsxHead  = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"
	xlsxMain  = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"`
	xlsxRel   = `http://schemas.openxmlformats.org/officeDocument/2006/relationships`
	xlsxType  = `application/vnd.openxmlformats-officedocument.spreadsheetml.`
	xlsxSheet = xlsxHead + `<worksheet ` + xlsxMain + `>`
)

// xlsxParts are the parts of a workbook that are always the same.
var xlsxParts = []struct{ name, content string }{
	{"[Content_Types].xml", xlsxHead + `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
		`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
		`<Default Extension="xml" ContentType="application/xml"/>` +
		`<Override PartName="/xl/workbook.xml" ContentType="` + xlsxType + `sheet.main+xml"/>` +
		`<Override PartName="/xl/styles.xml" ContentType="` + xlsxType + `styles+xml"/>` +
		`<Override PartName="/xl/worksheets/sheet1.xml" ContentType="` + xlsxType + `worksheet+xml"/>` +
		`<Override PartName="/xl/worksheets/sheet2.xml" ContentType="` + xlsxType + `worksheet+xml"/></Types>`},
	{"_rels/.rels", xlsxHead + `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
		`<Relationship Id="rId1" Type="` + xlsxRel + `/officeDocument" Target="xl/workbook.xml"/></Relationships>`},
	{"xl/_rels/workbook.xml.rels", xlsxHead + `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
		`<Relationship Id="rId1" Type="` + xlsxRel + `/worksheet" Target="worksheets/sheet1.xml"/>` +
		`<Relationship Id="rId2" Type="` + xlsxRel + `/worksheet" Target="worksheets/sheet2.xml"/>` +
		`<Relationship Id="rId3" Type="` + xlsxRel + `/styles" Target="styles.xml"/></Relationships>`},
}

// xlsxWorkbook names the sheets, and the cells that the filter of the first is over:
// spreadsheets look for them under a name of their own.
func xlsxWorkbook(filtered string) []byte {
	from, to, _ := strings.Cut(filtered, ":")
	return fmt.Appendf(nil, `%s<workbook %s xmlns:r="%s"><sheets><sheet name="Data" sheetId="1" r:id="rId1"/><sheet name="About" sheetId="2" r:id="rId2"/></sheets>`+
		`<definedNames><definedName name="_xlnm._FilterDatabase" localSheetId="0" hidden="1">Data!%s:%s</definedName></definedNames></workbook>`,
		xlsxHead, xlsxMain, xlsxRel, fixedPlace(from), fixedPlace(to))
}

// fixedPlace spells a cell as one that does not move: A1 is $A$1.
func fixedPlace(cell string) string {
	digits := strings.IndexAny(cell, "0123456789")
	return "$" + cell[:digits] + "$" + cell[digits:]
}
