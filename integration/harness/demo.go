package harness

import "time"

// DemoAccount is the id of the demonstration account.
const DemoAccount = "demo"

// demoTime is longer than startTime: three years of extracts are written and
// loaded.
const demoTime = 5 * time.Minute

// Demo makes the demonstration account and serves it with both limits off.
func (p *Program) Demo() (*Server, error) {
	return p.startServer(demoTime, []string{"demo", "--listen", "127.0.0.1:0", "--limit-minute", "0", "--limit-day", "0", "--json"})
}
