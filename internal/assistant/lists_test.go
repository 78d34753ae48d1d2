package assistant

import (
	"fmt"
	"strings"
	"testing"

	"adlens"

	"github.com/go-json-experiment/json/jsontext"
)

// What was done, and why, names campaigns, so it is cut later than a name is.
func TestSentencesOfListsAreLongerThanNames(t *testing.T) {
	sentence := strings.Repeat("Paused \u202ecampaign. ", 30)
	said, err := readObject(jsontext.Value(fmt.Sprintf(`{"data":[{"summary":%[1]q,"name":%[1]q,"changes":[{"entity_name":%[1]q,"reason":%[1]q}]}]}`, sentence)))
	if err != nil {
		t.Fatal(err)
	}
	got, err := listTable(said, nil)
	if err != nil {
		t.Fatal(err)
	}
	name, long := adlens.CleanText(sentence, 80), adlens.CleanText(sentence, 300)
	if want := fmt.Sprintf("[%q %q [{%q:%q,%q:%q}]]", long, name, "entity_name", name, "reason", long); fmt.Sprintf("%s", got.Rows[0]) != want {
		t.Errorf("got %s, want %s", got.Rows[0], want)
	}
}
