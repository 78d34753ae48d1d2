package assistant_test

import (
	"context"
	"encoding/json"
	"testing"

	"adlens/integration/house"

	"github.com/tiktoken-go/tokenizer"
)

// The budgets of what a model reads, in tokens.
const (
	listBudget    = 3_500 // with the program's version, of which a commit's takes four more than dev
	medianBudget  = 800
	longestBudget = 4_000 // of all but one result in a hundred
)

// tokensOf counts the tokens of a text as a public tokenizer does.
func tokensOf(t *testing.T, text string) int {
	t.Helper()
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	house.Need(t, err)
	n, err := codec.Count(text)
	house.Need(t, err)
	return n
}

func TestTheListOfToolsIsShort(t *testing.T) {
	t.Parallel()
	h := house.Shared(t)
	_, err := h.Account("short")
	house.Need(t, err)
	s := openSession(t, h.Program, "short")
	listed, err := s.ListTools(context.Background(), nil)
	house.Need(t, err)
	text, err := json.Marshal(listed)
	house.Need(t, err)
	n := tokensOf(t, string(text))
	t.Logf("tools/list has %d tokens", n)
	if n > listBudget {
		t.Errorf("tools/list has %d tokens, more than %d", n, listBudget)
	}
}
