package harness

// DemoAccount is the id of the demonstration account.
const DemoAccount = "demo"

// Demo makes the demonstration account and serves it with both limits off.
func (p *Program) Demo() (*Server, error) {
	return p.startServer([]string{"demo", "--listen", "127.0.0.1:0", "--limit-minute", "0", "--limit-day", "0", "--json"})
}
