package http

import (
	"mime"
	"reflect"
	"strconv"
	"strings"

	"adlens/internal/query"
)

// wish is what a client accepts, and how gladly: 0 is not at all, 1000 most.
type wish struct {
	value   string // in small letters
	quality int
}

// wishes reads a header of values with weights. What does not parse is no
// wish.
func wishes(headers []string) []wish {
	var all []wish
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
		all = append(all, wish{value, quality})
	}
	return all
}

// formatFor is the name of the format that a client's Accept asks for most:
// the best weight, then the most exactly named, then the one that comes first
// here. What fits nothing gets JSON.
func formatFor(accept []string) string {
	best, bestQuality, bestExact := query.JSON, 0, 0
	all := wishes(accept)
	for _, name := range query.Formats {
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

// mediaQuality is what the most exact wish says of a media type, and how exact
// that is: 3 for its name, 2 for its kind (text/*), 1 for all, 0 for no word.
func mediaQuality(mediaType string, all []wish) (quality, exact int) {
	kind, _, _ := strings.Cut(mediaType, "/")
	for _, w := range all {
		for i, pattern := range []string{"*/*", kind + "/*", mediaType} {
			if w.value == pattern && (i+1 > exact || i+1 == exact && w.quality > quality) {
				quality, exact = w.quality, i+1
			}
		}
	}
	return quality, exact
}

// chooseFormat sets the format of parameters that have one and were sent
// without it to what the client accepts.
func chooseFormat(params any, accept []string) {
	for _, f := range fieldsOf(reflect.ValueOf(params).Elem()) {
		if f.name == "format" && f.value.String() == "" {
			f.set(formatFor(accept))
		}
	}
}
