package query

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// answerRevision changes when the same request of the same data is answered
// in another way.
const answerRevision = 1

// Identity names an answer before it is computed: it is the same exactly for
// the same data and the same meaning of the request, whoever asks. The
// version of the manifest stands for all data of the account.
func Identity(endpoint string, v View, r Request) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d|%s|%s|%d|%+v", answerRevision, endpoint, v.Account, v.Manifest.Version, r))
	return hex.EncodeToString(sum[:16])
}
