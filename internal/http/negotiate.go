package http

import (
	"mime"
	"strconv"
	"strings"

	"adlens/internal/catalogue"
	"adlens/internal/query"
)

// form is a format as HTTP knows it.
type form struct {
	mediaType string // as answers name it
	accepted  []string
	extension string // of files; "" where answers are shown rather than saved
	packed    bool   // compressed in itself, so that it is not compressed again and can be read in parts
}

// forms are the formats, by their names in requests.
var forms = map[string]form{
	query.JSON: {mediaType: "application/json; charset=utf-8", accepted: []string{"application/json"}},
	query.CSV:  {mediaType: "text/csv; charset=utf-8; header=present", accepted: []string{"text/csv"}, extension: "csv"},
	query.XLSX: {mediaType: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", extension: "xlsx", packed: true,
		accepted: []string{"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"}},
	query.Parquet: {mediaType: "application/vnd.apache.parquet", extension: "parquet", packed: true,
		accepted: []string{"application/vnd.apache.parquet", "application/x-parquet"}},
	query.NDJSON: {mediaType: "application/x-ndjson", extension: "ndjson", accepted: []string{"application/x-ndjson", "application/ndjson"}},
}

// preference is a value that a client accepts, with its q-value in thousandths.
type preference struct {
	value   string // in small letters
	quality int
}

// readPreferences reads a header of values with weights. What does not parse is
// left out.
func readPreferences(headers []string) []preference {
	var all []preference
	for _, part := range strings.Split(strings.Join(headers, ","), ",") {
		value, parameters, err := mime.ParseMediaType(part)
		if err != nil || value == "" {
			continue
		}
		quality := 1000
		if q, weighted := parameters["q"]; weighted {
			f, err := strconv.ParseFloat(q, 64)
			if err != nil || !(f >= 0 && f <= 1) {
				continue
			}
			quality = int(f * 1000)
		}
		all = append(all, preference{value, quality})
	}
	return all
}

// chooseFormat returns the name of the format that a client's Accept prefers:
// the best weight, then the most exactly named, then the one that comes first
// here. What fits nothing gets JSON.
func chooseFormat(accept []string) string {
	best, bestQuality, bestExact := query.JSON, 0, 0
	all := readPreferences(accept)
	for _, name := range catalogue.Formats {
		quality, exact := 0, 0
		for _, mediaType := range forms[name].accepted {
			if q, e := mediaQuality(mediaType, all); e > exact || e == exact && q > quality {
				quality, exact = q, e
			}
		}
		if quality > bestQuality || quality == bestQuality && quality > 0 && exact > bestExact {
			best, bestQuality, bestExact = name, quality, exact
		}
	}
	return best
}

// mediaQuality returns the q-value of the most exact preference for a media type,
// and how exact that is: 3 for its name, 2 for its kind (text/*), 1 for all, 0
// for none.
func mediaQuality(mediaType string, all []preference) (quality, exact int) {
	kind, _, _ := strings.Cut(mediaType, "/")
	for _, p := range all {
		for i, pattern := range []string{"*/*", kind + "/*", mediaType} {
			if p.value == pattern && (i+1 > exact || i+1 == exact && p.quality > quality) {
				quality, exact = p.quality, i+1
			}
		}
	}
	return quality, exact
}
