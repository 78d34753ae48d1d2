package console

import (
	"archive/zip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"time"

	"adlens/internal/platform"
)

// Bounds of the parts of a workbook that are kept in memory, unpacked.
const (
	maxPart  = 1 << 20
	maxTexts = 64 << 20
)

// workbook is an Excel workbook (ECMA-376), as far as the console's need it: one
// sheet of rows, whose texts are in the cells or in a list of their own.
type workbook struct {
	archive *zip.Reader
	sheets  []string // paths of their parts, in the order of the workbook
	texts   []string // that cells refer to; nil until a sheet is opened, and once the file was surveyed
}

var errDamaged = errors.New("the workbook is damaged")

func openWorkbook(source io.ReaderAt, size int64) (*workbook, error) {
	archive, err := zip.NewReader(source, size)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	w := &workbook{archive: archive}
	if err := w.findSheets(); err != nil {
		return nil, err
	}
	return w, nil
}

// part opens a part; what comes out of it is bounded.
func (w *workbook) part(name string, limit int64) (io.ReadCloser, error) {
	opened, err := w.archive.Open(strings.TrimPrefix(name, "/"))
	if err != nil {
		return nil, fmt.Errorf("%w: it lacks %s", errDamaged, name)
	}
	return struct {
		io.Reader
		io.Closer
	}{&bounded{r: opened, what: "a part", limit: limit, most: limit}, opened}, nil
}

func (w *workbook) decodePart(name string, into any) error {
	part, err := w.part(name, maxPart)
	if err != nil {
		return err
	}
	defer part.Close()
	if err := xml.NewDecoder(part).Decode(into); err != nil {
		return fmt.Errorf("%w: %s: %w", errDamaged, name, err)
	}
	return nil
}

func (w *workbook) findSheets() error {
	var book struct {
		Properties struct {
			From1904 string `xml:"date1904,attr"`
		} `xml:"workbookPr"`
		Sheets []struct {
			ID string `xml:"http://schemas.openxmlformats.org/officeDocument/2006/relationships id,attr"`
		} `xml:"sheets>sheet"`
	}
	var relations struct {
		All []struct {
			ID     string `xml:"Id,attr"`
			Target string `xml:"Target,attr"`
		} `xml:"Relationship"`
	}
	if err := w.decodePart("xl/workbook.xml", &book); err != nil {
		return err
	}
	if from := book.Properties.From1904; from == "1" || from == "true" {
		return errors.New("the workbook counts days from 1904; save it with days from 1900, as the console does")
	}
	if err := w.decodePart("xl/_rels/workbook.xml.rels", &relations); err != nil {
		return err
	}
	for _, sheet := range book.Sheets {
		for _, r := range relations.All {
			if r.ID != sheet.ID {
				continue
			}
			target := r.Target
			if !strings.HasPrefix(target, "/") {
				target = path.Join("xl", target)
			}
			w.sheets = append(w.sheets, target)
		}
	}
	if len(w.sheets) == 0 {
		return fmt.Errorf("%w: it has no sheet", errDamaged)
	}
	return nil
}

// readTexts reads the list of texts that cells refer to, which a workbook need not
// have.
func (w *workbook) readTexts() error {
	const name = "xl/sharedStrings.xml"
	if _, err := w.archive.Open(name); err != nil {
		return nil
	}
	part, err := w.part(name, maxTexts)
	if err != nil {
		return err
	}
	defer part.Close()
	decoder := xml.NewDecoder(part)
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: %s: %w", errDamaged, name, err)
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "si" {
			text, err := readText(decoder)
			if err != nil {
				return fmt.Errorf("%w: %s: %w", errDamaged, name, err)
			}
			w.texts = append(w.texts, text)
		}
	}
}

// readText reads the text of an element that has begun, without what is only said
// about its pronunciation.
func readText(decoder *xml.Decoder) (string, error) {
	var text strings.Builder
	for inside, depth := false, 1; depth > 0; {
		token, err := decoder.Token()
		if err != nil {
			return "", err
		}
		switch token := token.(type) {
		case xml.StartElement:
			if token.Name.Local == "rPh" {
				if err := decoder.Skip(); err != nil {
					return "", err
				}
				continue
			}
			depth++
			inside = token.Name.Local == "t"
		case xml.EndElement:
			depth--
			inside = false
		case xml.CharData:
			if inside {
				text.Write(token)
			}
		}
	}
	return text.String(), nil
}

// createdAt is when the workbook was made, zero where it does not say.
func (w *workbook) createdAt() time.Time {
	var properties struct {
		Created string `xml:"http://purl.org/dc/terms/ created"`
	}
	if w.decodePart("docProps/core.xml", &properties) != nil {
		return time.Time{}
	}
	at, err := platform.ParseTime(strings.TrimSpace(properties.Created))
	if err != nil {
		return time.Time{}
	}
	return at
}

// sheetTable reads the rows of a sheet.
type sheetTable struct {
	decoder *xml.Decoder
	texts   []string
	cells   []cell
	number  int
}

func (w *workbook) openSheet(name string) (table, io.Closer, error) {
	part, err := w.archive.Open(strings.TrimPrefix(name, "/"))
	if err != nil {
		return nil, nil, fmt.Errorf("%w: it lacks %s", errDamaged, name)
	}
	if w.texts == nil {
		if err := w.readTexts(); err != nil {
			return nil, nil, errors.Join(err, part.Close())
		}
	}
	b := &bounded{r: part, what: "a row", limit: maxRow, most: maxRow}
	return &boundedTable{&sheetTable{decoder: xml.NewDecoder(b), texts: w.texts}, b}, part, nil
}

func (t *sheetTable) setWidth(int)  {} // empty cells are left out
func (t *sheetTable) offset() int64 { return t.decoder.InputOffset() }

func (t *sheetTable) next() ([]cell, int, error) {
	for {
		token, err := t.decoder.Token()
		switch {
		case errors.Is(err, io.EOF):
			return nil, 0, io.EOF
		case err != nil:
			return nil, 0, fmt.Errorf("after row %d: %w: %w", t.number, errDamaged, err)
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "row" {
			number := t.number + 1
			if n, err := strconv.Atoi(attribute(start, "r")); err == nil {
				number = n
			}
			if number <= t.number {
				return nil, 0, fmt.Errorf("%w: row %d after row %d, expected rows in their order", errDamaged, number, t.number)
			}
			t.number = number
			if err := t.readRow(); err != nil {
				return nil, 0, fmt.Errorf("row %d: %w", t.number, err)
			}
			return t.cells, t.number, nil
		}
	}
}

func attribute(of xml.StartElement, name string) string {
	for _, a := range of.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func (t *sheetTable) readRow() error {
	t.cells = t.cells[:0]
	for {
		token, err := t.decoder.Token()
		if err != nil {
			return fmt.Errorf("%w: %w", errDamaged, err)
		}
		switch token := token.(type) {
		case xml.EndElement:
			return nil
		case xml.StartElement:
			if token.Name.Local != "c" {
				if err := t.decoder.Skip(); err != nil {
					return fmt.Errorf("%w: %w", errDamaged, err)
				}
				continue
			}
			at := columnNumber(attribute(token, "r"), len(t.cells))
			if at < len(t.cells) || at >= maxColumns {
				return fmt.Errorf("%w: cell %s, expected those of a row in their order, and at most %d", errDamaged, attribute(token, "r"), maxColumns)
			}
			for len(t.cells) < at {
				t.cells = append(t.cells, cell{})
			}
			c, err := t.readCell(token)
			if err != nil {
				return err
			}
			t.cells = append(t.cells, c)
		}
	}
}

// columnNumber is the place of a cell such as AB12, from 0; next where it does not
// say.
func columnNumber(place string, next int) int {
	n := 0
	for _, r := range place {
		if r < 'A' || r > 'Z' || n > maxColumns {
			break
		}
		n = n*26 + int(r-'A') + 1
	}
	if n == 0 {
		return next
	}
	return n - 1
}

// readCell reads the inside of a cell, by its type.
func (t *sheetTable) readCell(start xml.StartElement) (cell, error) {
	var inside struct {
		Formula *string `xml:"f"`
		Value   string  `xml:"v"`
		Text    struct {
			Plain string   `xml:"t"`
			Runs  []string `xml:"r>t"`
		} `xml:"is"`
	}
	if err := t.decoder.DecodeElement(&inside, &start); err != nil {
		return cell{}, fmt.Errorf("%w: %w", errDamaged, err)
	}
	switch attribute(start, "t") {
	case "", "n":
		if inside.Formula != nil && inside.Value == "" { // of a script that computed nothing: it is no empty cell
			return cell{text: "=" + *inside.Formula, bad: true}, nil
		}
		return cell{text: inside.Value, number: inside.Value != ""}, nil
	case "s":
		at, err := strconv.Atoi(inside.Value)
		if err != nil || at < 0 || at >= len(t.texts) {
			return cell{}, fmt.Errorf("%w: text %q of %d", errDamaged, inside.Value, len(t.texts))
		}
		return cell{text: t.texts[at]}, nil
	case "inlineStr":
		return cell{text: inside.Text.Plain + strings.Join(inside.Text.Runs, "")}, nil
	case "str", "d":
		return cell{text: inside.Value}, nil
	default: // an error or a truth value
		return cell{text: inside.Value, bad: true}, nil
	}
}
