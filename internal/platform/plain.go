package platform

import (
	"adlens"

	"github.com/go-json-experiment/json/jsontext"
)

// plainReader reads a row whose names were seen before and are written without
// escapes, and whose values are texts, numbers, true, false or null. It accepts
// nothing that the strict way would not accept with the same result, but it may
// give up at any row.
type plainReader struct {
	*RowReader
	names  []name         // that were seen; the first is none, which every row begins with
	byText map[string]int // of names
	row    int            // counts the readings, to mark what a row has
	days   map[[dateLength]byte]adlens.Day
	ids    map[string]string // texts of ids, names and currencies, so that each is kept once
	short  bool              // gave up for want of text
}

// name is a member's name, and what is known of it.
type name struct {
	text  string // as JSON writes it, with its quotes
	field *field // nil where nothing is done with the value
	next  int    // of names: which one followed it the last time
	row   int    // that had it last
}

const dateLength = len("2006-01-02")

// What is remembered of a file is bounded. One with more is odd, and is read
// the strict way.
const (
	maxNames    = 512
	maxNameText = 256
	maxIDs      = 1 << 16
	maxKeptText = 256 // bytes of an id or a name
)

func newPlainReader(r *RowReader) plainReader {
	return plainReader{RowReader: r, names: make([]name, 1), byText: map[string]int{},
		days: map[[dateLength]byte]adlens.Day{}, ids: map[string]string{}}
}

// addName remembers a name that the strict way has met.
func (p *plainReader) addName(text jsontext.Value, f *field) {
	_, known := p.byText[string(text)]
	if known || len(p.names) == maxNames || len(text) > maxNameText || !isPlain(text) {
		return
	}
	p.byText[string(text)] = len(p.names)
	p.names = append(p.names, name{text: string(text), field: f})
}

func isPlain(text []byte) bool {
	end, escaped, ok := textEnd(text, 1)
	return ok && !escaped && end == len(text)-1
}

// parseRow reads the row that the text begins with, with the comma before it, and
// returns its length. The text ends in a byte of zero, at which all that is
// plain ends.
func (p *plainReader) parseRow(text []byte) (length int, ok bool) {
	p.row, p.short = p.row+1, false
	at := pastSpace(text, 0)
	if p.RowReader.row.Number > 0 {
		if text[at] != ',' {
			return p.giveUp(text, at)
		}
		at = pastSpace(text, at+1)
	}
	if text[at] != '{' {
		return p.giveUp(text, at)
	}
	return p.parseMembers(text, pastSpace(text, at+1))
}

// giveUp notes whether more text might have helped.
func (p *plainReader) giveUp(text []byte, at int) (length int, ok bool) {
	const longestLiteral = len(`"2006-01-02"`)
	p.short = len(text)-at <= longestLiteral
	return 0, false
}

func (p *plainReader) parseMembers(text []byte, at int) (length int, ok bool) {
	last, needed := 0, 0
	for {
		var n int
		if n, at = p.parseName(text, at, last); n == 0 {
			return p.giveUp(text, at)
		}
		f := p.names[n].field
		if at, ok = p.parseValue(f, text, at); !ok {
			return p.giveUp(text, at)
		}
		if f != nil && f.needed {
			needed++
		}
		switch at = pastSpace(text, at); text[at] {
		case '}':
			return at + 1, needed == p.needed
		case ',':
			at, last = pastSpace(text, at+1), n
		default:
			return p.giveUp(text, at)
		}
	}
}

// parseName reads a name with its colon, and returns its number: 0 where it is
// unknown or was there before. The one that followed the last time is the
// likely one.
func (p *plainReader) parseName(text []byte, at, last int) (number, end int) {
	number = p.names[last].next
	if likely := p.names[number].text; number != 0 && len(text)-at > len(likely) && string(text[at:at+len(likely)]) == likely {
		end = at + len(likely)
	} else if number, end = p.findName(text, at); number == 0 {
		return 0, end
	}
	p.names[last].next = number
	if p.names[number].row == p.row {
		return 0, end // twice in one row
	}
	p.names[number].row = p.row
	if end = pastSpace(text, end); text[end] != ':' {
		return 0, end
	}
	return number, pastSpace(text, end+1)
}

func (p *plainReader) findName(text []byte, at int) (number, end int) {
	if text[at] != '"' {
		return 0, at
	}
	end, _, ok := textEnd(text, at+1)
	if !ok {
		return 0, end
	}
	return p.byText[string(text[at:end+1])], end + 1
}

// parseValue takes over the value at a place and returns where it ends.
func (p *plainReader) parseValue(f *field, text []byte, at int) (end int, ok bool) {
	if f == nil {
		return passValue(text, at)
	}
	if text[at] == 'n' {
		if end, ok = passLiteral(text, at, "null"); !ok || !f.isNullable() {
			return end, false
		}
		p.setNull(f)
		return end, true
	}
	switch f.holds {
	case holdsDate:
		return p.parseDate(text, at)
	case holdsText:
		*f.into, end, ok = p.parseText(text, at, maxName)
	case holdsID:
		*f.into, end, ok = p.parseID(text, at)
	case holdsCount:
		p.RowReader.row.Counts[f.at], end, ok = parseCount(text, at)
	default:
		p.RowReader.row.Amounts[f.at], end, ok = parseAmount(text, at)
	}
	return end, ok
}

// parseDate takes over a day of the report's range. Neighbouring rows are often of
// one day.
func (p *plainReader) parseDate(text []byte, at int) (end int, ok bool) {
	end = at + dateLength + 2
	if len(text) < end || text[at] != '"' || text[end-1] != '"' {
		return at, false
	}
	written := [dateLength]byte(text[at+1:])
	day, known := p.days[written]
	if !known {
		parsed, err := adlens.ParseDay(string(written[:]))
		if err != nil || parsed < p.report.Start || parsed > p.report.End {
			return at, false
		}
		day, p.days[written] = parsed, parsed
	}
	p.RowReader.row.Day = day
	return end, true
}

func (p *plainReader) parseID(text []byte, at int) (id string, end int, ok bool) {
	if text[at] == '"' {
		return p.parseText(text, at, maxValue)
	}
	end = pastDigits(text, at)
	whole := end > at && (text[at] != '0' || end == at+1) && endsValue(text[end])
	if !whole || end-at > maxValue {
		return "", end, false
	}
	return p.internText(text[at:end]), end, true
}

// parseText reads a text of at most so many bytes and without escapes.
func (p *plainReader) parseText(text []byte, at, most int) (id string, end int, ok bool) {
	if text[at] != '"' {
		return "", at, false
	}
	end, escaped, ok := textEnd(text, at+1)
	if !ok || escaped || end-at > most {
		return "", end, false
	}
	return p.internText(text[at+1 : end]), end + 1, true
}

// internText returns the text as a string, the same one each time.
func (p *plainReader) internText(text []byte) string {
	kept, ok := p.ids[string(text)]
	if !ok && len(text) > maxKeptText {
		return string(text)
	}
	if !ok {
		if len(p.ids) == maxIDs {
			clear(p.ids)
		}
		kept = string(text)
		p.ids[kept] = kept
	}
	return kept
}
