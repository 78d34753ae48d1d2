package query

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// answerRevision changes when the same request of the same data is answered
// in another way.
const answerRevision = 5

// Identity names an answer before it is computed: it is the same exactly for
// the same data and the same meaning of the request, whoever asks. The
// version of the manifest stands for all data of the account.
func Identity(endpoint string, v View, r Request) string { return hashIdentity(endpoint, v, r) }

// ListIdentity names the answer of a list.
func ListIdentity(endpoint string, v View, r ListRequest) string { return hashIdentity(endpoint, v, r) }

// hashIdentity writes every text in quotes: no part can be taken for another,
// whatever is in an id that a client chose.
func hashIdentity(endpoint string, v View, request any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d|%q|%q|%d|%#v", answerRevision, endpoint, v.Account, v.Manifest.Version, request))
	return hex.EncodeToString(sum[:16])
}
