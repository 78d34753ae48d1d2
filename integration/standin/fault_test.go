package standin_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"adlens/integration/standin"
)

// strike has the next call of the list fail in one way.
func strike(t *testing.T, do standin.Effect) (*customer, answer, error) {
	t.Helper()
	c := structured(t, standin.ListPlan{})
	c.p.Inject(standin.Fault{On: standin.SDCampaigns, Do: do})
	got, err := c.try(http.MethodGet, "/sd/campaigns", "")
	return c, got, err
}

func TestFaultStrikesChosenCallsOnly(t *testing.T) {
	c := structured(t, standin.ListPlan{})
	c.p.Inject(standin.Fault{On: standin.SDCampaigns, Nth: 2, Times: 2, Do: standin.ServerError(502)})
	c.p.Inject(standin.Fault{On: standin.Any, Profile: 2, Times: -1, Do: standin.ServerError(504)})
	for i, want := range []int{200, 502, 502, 200} {
		if got := c.do(http.MethodGet, "/sd/campaigns", ""); got.status != want {
			t.Errorf("call %d: %d, want %d", i+1, got.status, want)
		}
		expect(t, c.do(http.MethodGet, "/sd/adGroups", ""), 200, "")
	}
	c.scope = "2"
	expect(t, c.do(http.MethodGet, "/sd/adGroups", ""), 504, "")
	c.p.Heal()
	expect(t, c.do(http.MethodGet, "/sd/adGroups", ""), 200, "")
	stop := c.p.Inject(standin.Fault{Times: -1, When: func(call standin.Call) bool { return strings.HasSuffix(call.Path, "extended") }, Do: standin.ServerError(500)})
	expect(t, c.do(http.MethodGet, "/sd/adGroups/extended", ""), 500, "")
	expect(t, c.do(http.MethodGet, "/sd/adGroups", ""), 200, "")
	stop()
	expect(t, c.do(http.MethodGet, "/sd/adGroups/extended", ""), 200, "")
}

func TestErrorsComeInThreeShapes(t *testing.T) {
	for shape, text := range map[standin.Shape]string{
		standin.Detail: `{"code":"400","detail":"no"}`, standin.Details: `{"code":"400","details":"no","requestId":`, standin.Message: `{"message":"no"}`,
	} {
		_, got, _ := strike(t, standin.Error(400, shape, "no"))
		expect(t, got, 400, text)
	}
	_, got, _ := strike(t, standin.ExpiredToken())
	expect(t, got, 401, "3P Request: Invalid token")
}

func TestThrottlingMayNameItsEnd(t *testing.T) {
	for _, after := range []string{"", "7"} {
		_, got, _ := strike(t, standin.Throttled(after))
		if _, has := got.header["Retry-After"]; got.status != 429 || has != (after != "") || got.header.Get("Retry-After") != after {
			t.Errorf("%q: %+v", after, got)
		}
	}
}

func TestWrongContentComesWithStatus200(t *testing.T) {
	_, got, _ := strike(t, standin.HTML())
	expect(t, got, 200, "<!doctype html>")
	_, got, _ = strike(t, standin.WrongJSON())
	expect(t, got, 200, `"name":`)
	_, got, _ = strike(t, standin.Answer(418, "text/plain", "tea", "X-Pot", "small"))
	expect(t, got, 418, "tea")
	if got.header.Get("X-Pot") != "small" {
		t.Errorf("got %v", got.header)
	}
}

func TestConnectionBreaks(t *testing.T) {
	if _, _, err := strike(t, standin.Reset()); !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, io.EOF) {
		t.Errorf("got %v", err)
	}
	if _, got, err := strike(t, standin.CutBody()); !errors.Is(err, io.ErrUnexpectedEOF) || got.text == "" {
		t.Errorf("got %v after %q", err, got.text)
	}
}

func TestLostAnswerLeavesReportBehind(t *testing.T) {
	c := reporting(t, standin.Config{Report: course(1, 0)})
	c.p.Inject(standin.Fault{On: standin.ReportCreate, Do: standin.ResetAfter()})
	if _, err := c.try(http.MethodPost, "/reporting/reports", order(), "Content-Type", createMedia); err == nil {
		t.Error("no error")
	}
	expect(t, c.create(order()), http.StatusTooEarly, "duplicate of")
}

func TestDownloadCanBeCut(t *testing.T) {
	c, report := filed(t, standin.JobPlan{})
	c.p.Inject(standin.Fault{On: standin.ReportFile, Do: standin.CutBody()})
	request, _ := http.NewRequest(http.MethodGet, report["url"].(string), nil)
	if _, err := send(request); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}
	if got := c.rows(report); len(got) != 1 {
		t.Errorf("got %v", got)
	}
}

func TestAnswerComesLate(t *testing.T) {
	for _, do := range []standin.Effect{standin.Slow(50 * time.Millisecond), standin.Stall(50 * time.Millisecond)} {
		began := time.Now()
		_, got, err := strike(t, do)
		if took := time.Since(began); err != nil || took < 50*time.Millisecond || !strings.HasSuffix(got.text, "]") {
			t.Errorf("%v after %v: %+v", err, took, got)
		}
	}
}

func TestCloseEndsHeldBackAnswers(t *testing.T) {
	c := structured(t, standin.ListPlan{})
	c.p.Inject(standin.Fault{On: standin.SDCampaigns, Do: standin.Slow(time.Hour)})
	var waiting sync.WaitGroup
	waiting.Go(func() { _, _ = c.try(http.MethodGet, "/sd/campaigns", "") })
	for c.p.Calls(standin.SDCampaigns) == 0 {
		time.Sleep(time.Millisecond)
	}
	began := time.Now()
	c.p.Close()
	waiting.Wait()
	if took := time.Since(began); took > time.Minute/2 {
		t.Errorf("closing took %v", took)
	}
}

func TestHugeBodyIsAsLongAsAsked(t *testing.T) {
	_, got, err := strike(t, standin.HugeBody(1<<20))
	if err != nil || len(got.text) < 1<<20 || len(got.text) > 1<<20+100 {
		t.Errorf("%v, %d bytes", err, len(got.text))
	}
}

func TestRedirectLeadsToHostOfAnotherName(t *testing.T) {
	c, got, err := strike(t, standin.RedirectAbroad())
	if err != nil || got.status != http.StatusOK {
		t.Fatalf("%v %+v", err, got)
	}
	abroad := c.p.Recorded(standin.Foreign)
	if len(abroad) != 1 || abroad[0].Path != "/sd/campaigns" || abroad[0].Authorized {
		t.Errorf("got %+v", abroad)
	}
}

func TestOwnEffectSeesTheTrueAnswer(t *testing.T) {
	_, got, _ := strike(t, standin.Effected(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		w.Header().Set("X-Seen", "yes")
		next.ServeHTTP(w, r)
	}))
	if got.header.Get("X-Seen") != "yes" || got.status != 200 {
		t.Errorf("got %+v", got)
	}
}
