package query

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Identity names an answer before it is computed: it is the same exactly for
// the same data, the same marketplaces and the same meaning of the request, for
// any key. The version of the manifest identifies all data of the account.
func Identity(endpoint string, v View, r Request) string { return hashIdentity(endpoint, v, r) }

// ListIdentity names the answer of a list.
func ListIdentity(endpoint string, v View, r ListRequest) string { return hashIdentity(endpoint, v, r) }

// Meaning names what a request means, whatever the data are: Identity without the
// version, without what a list says of its reading alone, and the same for a view of
// all marketplaces, whether it is limited to these or not. A list is of a marketplace by
// its id: what else of it an answer shows is in the answer, its time zone is not.
func Meaning(endpoint string, v View, r any) string {
	v.Manifest.Version = 0
	if !v.isPart() {
		v.Limited = nil
	}
	if list, ok := r.(ListRequest); ok {
		list.Syncing = false
		list.Marketplace = Marketplace{ID: list.Marketplace.ID}
		r = list
	}
	return hashIdentity(endpoint, v, r)
}

// hashIdentity writes every text in quotes: no part can be taken for another,
// whatever is in an id that a client chose.
func hashIdentity(endpoint string, v View, r any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q|%q|%q|%d|%#v", endpoint, v.Account, v.part(), v.Manifest.Version, r))
	return hex.EncodeToString(sum[:16])
}
