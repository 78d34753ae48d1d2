package standin_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"adlens/integration/standin"
)

func TestCallsAreRecordedWithoutSecrets(t *testing.T) {
	c := reporting(t, standin.Config{})
	report := c.report(order())
	c.rows(report)
	for _, call := range c.p.Recorded(standin.Any) {
		text := fmt.Sprint(call)
		for _, secret := range []string{c.access, standin.DefaultClientSecret, strings.TrimPrefix(standin.DefaultRefreshToken, "Atzr|"), signature(report)} {
			if strings.Contains(text, secret) {
				t.Errorf("%s shows %s", text, secret)
			}
		}
	}
	token := c.p.Recorded(standin.Token)[0]
	if !strings.Contains(token.Body, "grant_type=refresh_token") || !strings.Contains(token.Body, "client_secret=redacted") {
		t.Errorf("token %+v", token)
	}
	create := c.p.Recorded(standin.ReportCreate)[0]
	if create.Method != http.MethodPost || create.Body != order() || create.Scope() != "1" || create.Region != standin.NA ||
		!create.Authorized || create.Status != http.StatusOK || !create.Time.Equal(noon) {
		t.Errorf("create %+v", create)
	}
	if file := c.p.Recorded(standin.ReportFile)[0]; file.Authorized {
		t.Errorf("file %+v", file)
	}
}

func signature(report map[string]any) string {
	_, text, _ := strings.Cut(report["url"].(string), "X-Amz-Signature=")
	return text
}

func TestCallsAreCountedPerEndpoint(t *testing.T) {
	c := reporting(t, standin.Config{Report: course(1, 1)})
	c.report(order())
	for endpoint, want := range map[standin.Endpoint]int{
		standin.Token: 1, standin.ReportCreate: 1, standin.ReportPoll: 3, standin.ReportFile: 0, standin.Any: 5,
	} {
		if got := c.p.Calls(endpoint); got != want {
			t.Errorf("%s: %d, want %d", endpoint, got, want)
		}
	}
}

func TestManyGoroutinesMayUseIt(t *testing.T) {
	c := structured(t, standin.ListPlan{})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			day := fmt.Sprintf("2026-11-%02d", i+1)
			c.p.Restate(fact(day, "B01", 1))
			c.rows(c.report(order("2026-11-10", fmt.Sprintf("2026-11-%02d", i+11))))
			c.p.Inject(standin.Fault{On: standin.Unknown, Do: standin.Reset()})
			c.display("/sd/campaigns")
			c.p.SetLists(standin.ListPlan{PageCap: i + 1})
			c.list("/sp/campaigns/list", spCampaignMedia, `{}`)
		})
	}
	all.Wait()
	if got := c.p.Calls(standin.ReportCreate); got != 8 {
		t.Errorf("%d reports", got)
	}
}
