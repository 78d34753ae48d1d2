package query

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"adlens"
)

// Identity names an answer before it is computed: it is the same exactly for
// the same data, the same marketplaces and the same meaning of the request, for
// any key. The version of the manifest identifies all data of the account. It is
// of one process: names of the program's types and fields are in it.
func Identity(endpoint string, v View, r Request) string { return hashIdentity(endpoint, v, r) }

// ListIdentity names the answer of a list.
func ListIdentity(endpoint string, v View, r ListRequest) string { return hashIdentity(endpoint, v, r) }

// hashIdentity writes every text in quotes: no part can be taken for another,
// whatever is in an id that a client chose.
func hashIdentity(endpoint string, v View, r any) string {
	return hashText(fmt.Appendf(nil, "%q|%q|%q|%d|%#v", endpoint, v.Account, v.part(), v.Manifest.Version, r))
}

// Meaning names what a request means, whatever the data are, and the same for a view of
// all marketplaces, whether it is limited to these or not. Tags of answers are made of
// it, and outlive versions of the program: it has what the API names alone, which is the
// address with every default filled in, the days that a period is on this day, and the
// format. What else of the account an answer shows is in its body.
func Meaning(endpoint string, v View, r interface {
	Spelled() string
	Written() Format
}) string {
	var days []adlens.Day
	if figures, ok := r.(Request); ok {
		days = append(days, figures.Period.Start, figures.Period.End)
		if figures.Compared() {
			days = append(days, figures.Earlier.Start, figures.Earlier.End)
		}
	}
	f := r.Written()
	return hashText(fmt.Appendf(nil, "%q|%q|%q|%q|%s|%q|%q|%q|%q", endpoint, v.Account, v.namePart(), r.Spelled(), days, f.Name, f.Separator, f.Decimal, f.Headers))
}

func hashText(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}
