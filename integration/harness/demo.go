package harness

// DemoAccount is the id of the demonstration account.
const DemoAccount = "demo"

// Demo makes the demonstration account, and serves it without limits.
func (p *Program) Demo() (*Server, error) {
	return p.serve([]string{"demo", "--listen", "127.0.0.1:0", "--limit-minute", "0", "--limit-day", "0", "--json"})
}
