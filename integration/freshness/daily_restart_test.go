package freshness_test

import (
	"strings"
	"testing"
	"time"

	"adlens/integration/house"
	"adlens/integration/standin"
)

func TestTheSameDayIsAskedForOnceWhateverRestarts(t *testing.T) {
	t.Parallel()
	l := ownLive(t, 2)
	m := l.merchant(t, "US")
	m.planReports(whole)
	l.platform.Restate(m.sale(0, standin.SponsoredProducts, m.back(t, 0, 4), "2.00", "5"))
	m.connect(t)
	sums(t, m.Ask, "range=all_time", `"spend":2.00,"sales":5.00`)
	m.wantRest(t, firstRequests) // of both servers together
	m.wantLookBackOnce(t, 0)
	l.kill(t)
	m.Ask.Address = l.start(t).Address
	m.wantRest(t, firstRequests)
	house.Need(t, l.stop())
	m.Ask.Address = l.start(t).Address
	m.wantRest(t, firstRequests)
	mustSum(t, m.Ask, `"spend":2.00,"sales":5.00`)
}

func TestReportsThatRunAreWaitedForAfterAKill(t *testing.T) {
	t.Parallel()
	l := ownLive(t, 1)
	m := l.merchant(t, "US")
	done := make(chan struct{})
	m.planReports(func(standin.ReportOrder) standin.JobPlan {
		select {
		case <-done:
			return standin.JobPlan{}
		default:
			return standin.JobPlan{PendingPolls: 1} // the second look finds it finished
		}
	})
	l.platform.Restate(m.sale(0, standin.SponsoredBrands, m.back(t, 0, 4), "2.00", "5"))
	m.connect(t)
	// All were looked at once: so each id was heard of, and is remembered.
	house.Eventually(t, "all reports run", func() bool { return m.creates(0) == firstRequests && m.looked() == firstRequests })
	l.kill(t)
	close(done)
	m.Ask.Address = l.start(t).Address
	sums(t, m.Ask, "range=all_time", `"spend":2.00,"sales":5.00`)
	m.wantRest(t, firstRequests)
	m.wantLookBackOnce(t, 0)
}

// looked counts the reports of the first marketplace that were looked at.
func (m *merchant) looked() int {
	ids := map[string]bool{}
	for _, call := range m.live.platform.Recorded(standin.ReportPoll) {
		if call.Scope() == m.id(0) {
			ids[call.Path] = true
		}
	}
	return len(ids)
}

func TestNoKillLosesOrDoublesAFigure(t *testing.T) {
	t.Parallel()
	l := ownLive(t, 1)
	var all []*merchant
	for range house.Scaled(5) {
		m := l.merchant(t, "US")
		m.planReports(whole)
		for _, endpoint := range []standin.Endpoint{standin.ReportCreate, standin.ReportPoll} {
			m.fault(0, standin.Fault{On: endpoint, Times: -1, Do: standin.Slow(100 * time.Millisecond)})
		}
		for days := 1; days <= 95; days += 7 {
			l.platform.Restate(m.sale(0, standin.SponsoredProducts, m.back(t, 0, days), "1.00", "2"))
		}
		m.connect(t)
		all = append(all, m)
	}
	// The accounts are looked at together; by now each is somewhere else.
	house.Eventually(t, "reports are requested", func() bool { return all[len(all)-1].creates(0) > 0 })
	<-time.After(time.Duration(random(t).Int64N(int64(3 * time.Second))))
	l.kill(t)
	address := l.start(t).Address
	for _, m := range all {
		m.Ask.Address = address
		sums(t, m.Ask, "range=all_time", `"spend":14.00,"sales":28.00`)
	}
	<-time.After(house.SeveralLooks)
	for _, m := range all {
		m.wantCreates(t, firstRequests+2) // two calls at most were under way
	}
}

func TestARevokedConnectionIsSaidOnceByTheDailyRefresh(t *testing.T) {
	t.Parallel()
	l := ownLive(t, 0)
	m := l.merchant(t, "US")
	m.connect(t)
	l.platform.Revoke(m.refresh)
	before := l.platform.Calls(standin.Token)
	m.Ask.Address = l.start(t).Address
	house.Eventually(t, "the log says how to connect", func() bool {
		return strings.Contains(strings.Join(m.log(), "\n"), "adlens connect")
	})
	m.wantRest(t, 0)
	if calls := l.platform.Calls(standin.Token) - before; calls > 3 {
		t.Errorf("the platform was asked %d times for a token", calls)
	}
	if connected, _ := connection(t, m.Ask); connected {
		t.Error("/account says that the connection is accepted")
	}
	if said := m.log(); len(said) > 4 {
		t.Errorf("the log has %d lines on one refusal:\n%s", len(said), strings.Join(said, "\n"))
	}
	// Connected again, the account is served without a restart.
	l.platform.SetGrant(standin.Grant{RefreshToken: m.refresh, Profiles: []int64{m.profiles[0].ID}})
	m.planReports(whole)
	l.platform.Restate(m.sale(0, standin.SponsoredProducts, m.back(t, 0, 2), "5.00", "6"))
	m.connect(t)
	sums(t, m.Ask, "range=all_time", `"spend":5.00,"sales":6.00`)
}
