package formats

const (
	xlsxHead  = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"
	xlsxMain  = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"`
	xlsxRel   = `http://schemas.openxmlformats.org/officeDocument/2006/relationships`
	xlsxType  = `application/vnd.openxmlformats-officedocument.spreadsheetml.`
	xlsxSheet = xlsxHead + `<worksheet ` + xlsxMain + `>`

	xlsxSheetEnd = `</sheetData></worksheet>`
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
	{"xl/workbook.xml", xlsxHead + `<workbook ` + xlsxMain + ` xmlns:r="` + xlsxRel + `"><sheets>` +
		`<sheet name="Data" sheetId="1" r:id="rId1"/><sheet name="About" sheetId="2" r:id="rId2"/></sheets></workbook>`},
	{"xl/_rels/workbook.xml.rels", xlsxHead + `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
		`<Relationship Id="rId1" Type="` + xlsxRel + `/worksheet" Target="worksheets/sheet1.xml"/>` +
		`<Relationship Id="rId2" Type="` + xlsxRel + `/worksheet" Target="worksheets/sheet2.xml"/>` +
		`<Relationship Id="rId3" Type="` + xlsxRel + `/styles" Target="styles.xml"/></Relationships>`},
	{"xl/styles.xml", xlsxStyles},
}

// xlsxStyles has its cell formats in the order of the styles: plain, head,
// day, instant, whole number, hundredths, text.
const xlsxStyles = xlsxHead + `<styleSheet ` + xlsxMain + `>` +
	`<numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\-mm\-dd"/><numFmt numFmtId="165" formatCode="yyyy\-mm\-dd\ hh:mm:ss.000"/></numFmts>` +
	`<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts>` +
	`<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>` +
	`<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>` +
	`<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>` +
	`<cellXfs count="7">` +
	`<xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>` +
	`<xf numFmtId="49" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1" applyNumberFormat="1"/>` +
	`<xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>` +
	`<xf numFmtId="165" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>` +
	`<xf numFmtId="1" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>` +
	`<xf numFmtId="2" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>` +
	`<xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/></cellXfs>` +
	`<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`
