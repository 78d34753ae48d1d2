package assistant

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/internal/answer"
	"adlens/internal/auth"
	"adlens/internal/manifest"
	"adlens/internal/query"

	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// connectClient returns a client's session with a server.
func connectClient(t *testing.T, s *Server, o *mcp.ClientSessionOptions) *mcp.ClientSession {
	t.Helper()
	of, to := mcp.NewInMemoryTransports()
	if _, err := s.Protocol().Connect(t.Context(), of, nil); err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), to, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// connectTo returns a client's session about an account of a store, whose time is now's.
func connectTo(t *testing.T, store query.Store, now func() time.Time) *mcp.ClientSession {
	t.Helper()
	return connectClient(t, New(Config{Answers: answer.New(answer.Config{Figures: query.NewService(store, nil), Now: now}), Now: now, Account: isAcme,
		Admit: func(context.Context, *mcp.RequestExtra) (auth.Caller, error) {
			return auth.Caller{Account: adlens.Account{ID: "acme"}}, nil
		}}), nil)
}

// So do prompts and resources, of which the SDK catches no panic either.
func TestAPanicOfAPromptOrResourceEndsItAlone(t *testing.T) {
	var failed []error
	s := New(Config{Now: time.Now, Account: isAcme, Failed: func(_ *mcp.RequestExtra, _ string, err error) { failed = append(failed, err) },
		Admit: func(context.Context, *mcp.RequestExtra) (auth.Caller, error) { panic("a secret of the inside") }})
	session := connectClient(t, s, nil)
	_, ofPrompt := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "weekly_review"})
	_, ofResource := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "adlens://freshness"})
	for _, err := range []error{ofPrompt, ofResource} {
		var refused *jsonrpc.Error
		if !errors.As(err, &refused) || refused.Code != jsonrpc.CodeInternalError || strings.Contains(err.Error(), "secret") {
			t.Errorf("the client reads %v", err)
		}
	}
	if len(failed) != 2 || !strings.Contains(failed[0].Error(), "secret") {
		t.Errorf("the log has %v", failed)
	}
}

// JSON-RPC has codes for arguments and for all else; 0 is none of them.
func TestErrorsOfPromptsAndResourcesHaveACode(t *testing.T) {
	s := New(Config{Now: time.Now, Account: isAcme, Admit: func(context.Context, *mcp.RequestExtra) (auth.Caller, error) { return auth.Caller{}, auth.ErrCanceled }})
	session := connectClient(t, s, nil)
	mustRefuse := func(what string, err error, code int64, words string) {
		t.Helper()
		var refused *jsonrpc.Error
		if !errors.As(err, &refused) || refused.Code != code || !strings.Contains(refused.Message, words) {
			t.Errorf("%s: %v, want code %d and %q", what, err, code, words)
		}
	}
	_, err := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "why_did_acos_change", Arguments: map[string]string{"range": "ever"}})
	mustRefuse("a wrong range", err, jsonrpc.CodeInvalidParams, `range is "ever"; expected one of yesterday, last_7_days`)
	_, err = session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "weekly_review", Arguments: map[string]string{"range": "today"}})
	mustRefuse("an unknown argument", err, jsonrpc.CodeInvalidParams, `"range" is no argument of weekly_review`)
	_, err = session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "adlens://freshness"})
	mustRefuse("a canceled account", err, jsonrpc.CodeInternalError, "adlens://freshness: "+auth.ErrCanceled.Error())
}

// lacking is a warehouse without the figures of a campaign.
type lacking struct{ warehouse }

func (s lacking) View(ctx context.Context, account string) (query.View, error) {
	v, err := s.warehouse.View(ctx, account)
	held := v.Manifest.Of(manifest.Month)[0]
	held.Sources = []manifest.Source{{ReportID: "r", Days: 0b11011}}
	v.Manifest = v.Manifest.With(v.Manifest.Version, held)
	v.Legacy = []query.LegacyCampaign{{Marketplace: 1, ID: "71", Name: "Old\x00brand", Days: []adlens.Day{adlens.Date(2026, 3, 5)}}}
	return v, err
}

// What figures lack is told where their reach is.
func TestTheOverviewSaysWhatFiguresLack(t *testing.T) {
	now := func() time.Time { return time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC) }
	const campaign = `"campaigns":[{"campaign_id":"71","campaign_name":"Oldbrand"}]`
	for want, store := range map[bool]query.Store{false: warehouse{products: 1}, true: lacking{warehouse{products: 1}}} {
		session := connectTo(t, store, now)
		called, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "overview"})
		if err != nil {
			t.Fatal(err)
		}
		read, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "adlens://freshness"})
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{called.Content[0].(*mcp.TextContent).Text, read.Contents[0].Text} {
			if strings.Contains(text, campaign) != want || strings.Contains(text, `"incomplete":[{`) != want || strings.Contains(text, `"ad_product":"SPONSORED_PRODUCTS","reason":"days_not_held","start_date":"2026-03-03","end_date":"2026-03-03","days":1}]`) != want {
				t.Errorf("lacks: %t, want %t: %s", !want, want, text)
			}
		}
	}
}

// With local money an amount is not in dollars.
func TestFormulasNameNoCurrency(t *testing.T) {
	meanings, err := json.Marshal(formulas())
	if err != nil {
		t.Fatal(err)
	}
	if text := string(meanings); strings.Contains(text, `"unit":"USD"`) || strings.Count(text, `"unit":"currency"`) != 3 { // spend, sales and average_cpc
		t.Errorf("the formulas are %s", text)
	}
}

// Nothing that an assistant reads promises that days are final, or that they only grow.
func TestAllTextsSayHowLongDaysChange(t *testing.T) {
	meanings, err := json.Marshal(formulas())
	if err != nil {
		t.Fatal(err)
	}
	session := connectTo(t, warehouse{products: 1}, atNoon)
	read, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "adlens://freshness"})
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{"instructions": session.InitializeResult().Instructions, "formulas": string(meanings), "freshness": read.Contents[0].Text}
	for name, text := range texts {
		if !strings.Contains(text, "can change, up or down, for about 60 days, most within 14") {
			t.Errorf("%s does not say how long days change: %s", name, text)
		}
	}
	for _, one := range prompts {
		texts[one.name] = one.text
		if !strings.Contains(one.text, "can still change") {
			t.Errorf("%s does not say that days change: %s", one.name, one.text)
		}
	}
	for name, text := range texts {
		if strings.Contains(text, "grow") || strings.Contains(text, "for up to") {
			t.Errorf("%s says more than the platform does: %s", name, text)
		}
	}
}

// What results say of themselves in few words is explained where each conversation reads it.
func TestTheInstructionsExplainWhatResultsSayBriefly(t *testing.T) {
	text := instructionsFor(describeAccount(adlens.Account{ID: strings.Repeat("i", 64), Name: strings.Repeat("n", 200)}))
	for _, want := range []string{"not_held_from", "behind lists what ends earlier", "history_covered false: the period begins before held_from", "rows_were_cut", "A row whose product or ad group is null"} {
		if !strings.Contains(text, want) {
			t.Errorf("the instructions do not explain %s", want)
		}
	}
	if n := len(text); n > 2000 {
		t.Errorf("the instructions have %d characters, which clients cut at 2000", n)
	}
}
