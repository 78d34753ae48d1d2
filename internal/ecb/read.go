package ecb

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"adlens"
	"adlens/internal/platform"
)

// MaxFile is how many bytes a file may have, packed or unpacked. The whole history
// has a tenth of that.
const MaxFile = 16 << 20

const (
	dateColumn = "Date"
	noRate     = "N/A"
	zipMark    = "PK\x03\x04"
	// maxCurrencies bounds the columns; the bank has had 41.
	maxCurrencies = 200
)

var (
	currencyForm = regexp.MustCompile(`^[A-Z]{3}$`)
	unitsForm    = regexp.MustCompile(`^[0-9]{1,9}(\.[0-9]{1,10})?$`)
)

// Read reads a file, packed or not. An error names the row, the column and the value.
func Read(content io.Reader) (Table, error) {
	all, err := readBounded(content)
	if err == nil && strings.HasPrefix(string(all[:min(len(all), len(zipMark))]), zipMark) {
		all, err = unpack(all)
	}
	if err != nil {
		return nil, err
	}
	return readTable(all)
}

func readBounded(r io.Reader) ([]byte, error) {
	all, err := io.ReadAll(io.LimitReader(r, MaxFile+1))
	if err == nil && len(all) > MaxFile {
		err = fmt.Errorf("a file of rates of more than %d bytes, unpacked", MaxFile)
	}
	return all, err
}

// unpack returns the one file of an archive.
func unpack(packed []byte) ([]byte, error) {
	archive, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		return nil, fmt.Errorf("damaged zip archive: %w", err)
	}
	if len(archive.File) != 1 {
		return nil, fmt.Errorf("a zip archive of %d files; expected one, of CSV", len(archive.File))
	}
	file, err := archive.File[0].Open()
	if err != nil {
		return nil, fmt.Errorf("damaged zip archive: %w", err)
	}
	defer file.Close()
	all, err := readBounded(file)
	if errors.Is(err, zip.ErrChecksum) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("damaged zip archive: %w", err)
	}
	return all, err
}

// readTable reads a file of CSV. encoding/csv makes sure that each row has as many
// values as the header.
func readTable(content []byte) (Table, error) {
	reader := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))))
	reader.TrimLeadingSpace, reader.ReuseRecord = true, true
	header, err := reader.Read()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, platform.RowDamage(err, header, "")
	}
	currencies, err := readHeader(header)
	if err != nil {
		return nil, err
	}
	table := Table{}
	for {
		values, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, platform.RowDamage(err, values, fmt.Sprintf("%d values, one for each column", reader.FieldsPerRecord))
		}
		line, _ := reader.FieldPos(0)
		if err := table.addRow(line, currencies, values); err != nil {
			return nil, err
		}
	}
	if len(table) == 0 {
		return nil, errors.New("the file has no rates: expected a row for each day below its header")
	}
	return table, nil
}

// readHeader returns the currencies of the columns, with the empty one that the
// comma at the end makes left out.
func readHeader(header []string) ([]string, error) {
	var currencies []string
	for i, name := range header {
		name = strings.TrimSpace(name)
		switch {
		case i == 0 && name == dateColumn, i > 0 && i == len(header)-1 && name == "":
		case i > 0 && currencyForm.MatchString(name) && !slices.Contains(currencies, name) && len(currencies) < maxCurrencies:
			currencies = append(currencies, name)
		default:
			return nil, headerFault(header)
		}
	}
	if !slices.Contains(currencies, dollar) {
		return nil, headerFault(header)
	}
	return currencies, nil
}

func headerFault(header []string) error {
	return &platform.Fault{Row: 1, Value: fmt.Sprintf("%q", strings.Join(header, ",")),
		Expected: "Date and the codes of different currencies, USD among them, with commas between and behind them, as the European Central Bank writes them"}
}

func (t Table) addRow(line int, currencies, values []string) error {
	day, err := parseDay(strings.TrimSpace(values[0]))
	if err != nil {
		return &platform.Fault{Row: line, Field: dateColumn, Value: fmt.Sprintf("%q", values[0]),
			Expected: fmt.Sprintf("a day that exists, like 2026-11-20 or 20 November 2026, from %s to %s", adlens.FirstStorableDay, adlens.LastStorableDay)}
	}
	if _, twice := t[day]; twice {
		return &platform.Fault{Row: line, Field: dateColumn, Value: fmt.Sprintf("%q", values[0]), Expected: "a day that no earlier row has"}
	}
	units := make(map[string]adlens.Amount, len(currencies))
	for i, value := range values[1:] {
		value = strings.TrimSpace(value)
		if i == len(currencies) && value != "" {
			return &platform.Fault{Row: line, Value: fmt.Sprintf("%q", value), Expected: "nothing after the comma at the end of the line"}
		}
		if i == len(currencies) || value == noRate {
			continue
		}
		amount, err := adlens.ParseAmount([]byte(value))
		if err != nil || amount.IsZero() || !unitsForm.MatchString(value) {
			return unitsFault(line, currencies[i], value)
		}
		units[currencies[i]] = amount
	}
	return t.addDay(line, day, units)
}

func unitsFault(line int, currency, value string) error {
	return &platform.Fault{Row: line, Field: currency, Value: fmt.Sprintf("%q", value),
		Expected: "units of the currency for one euro: a decimal above 0 and below 1000000000 with at most 10 decimals, or " + noRate}
}

// addDay adds a day of which each rate is the worth of something in US dollars.
func (t Table) addDay(line int, day adlens.Day, units map[string]adlens.Amount) error {
	if dollars, ok := units[dollar]; ok {
		if !dollars.Less(maxDollars) {
			return unitsFault(line, dollar, dollars.String())
		}
		for currency, of := range units {
			if _, ok := inDollars(dollars, of); !ok {
				return &platform.Fault{Row: line, Field: currency, Value: fmt.Sprintf("%q", of.String()),
					Expected: fmt.Sprintf("units for one euro of a currency that is worth something and less than %s dollars at %s dollars for one euro", maxDollars, dollars)}
			}
		}
	}
	t[day] = units
	return nil
}

// parseDay reads a day as the history writes it, or as the daily file does.
func parseDay(text string) (adlens.Day, error) {
	day, err := adlens.ParseDay(text)
	if err != nil {
		var at time.Time
		at, err = time.Parse("2 January 2006", text)
		day = adlens.DayOf(at)
	}
	if err == nil && (day < adlens.FirstStorableDay || day > adlens.LastStorableDay) {
		err = errors.New("not storable")
	}
	return day, err
}
