package connector

import (
	"context"
	"time"

	"adlens"
)

// scan is the connections as they were read last.
type scan struct {
	connections []adlens.Connection
	at          time.Time
	mark        uint64
	settled     bool
}

// scanConnections reads all connections, unless the mark says that they are the same. Of
// an account that has none it returns one without a name, for its rates of exchange.
func (d *Daily) scanConnections(ctx context.Context, known *scan) ([]adlens.Connection, error) {
	next := scan{at: time.Now()}
	if d.Mark != nil {
		next.mark, next.settled = d.Mark()
	}
	if next.settled && known.settled && next.mark == known.mark && next.at.Sub(known.at) < d.Connector.paced(scanAgain) {
		return known.connections, nil
	}
	var err error
	next.connections, err = d.Connector.Store.Connections(ctx, "")
	if err == nil && d.Connector.Bank != nil {
		next.connections, err = d.addUnconnected(ctx, next.connections)
	}
	if err == nil {
		*known = next
	}
	return next.connections, err
}

// addUnconnected adds a connection without a name for each account that has none. The
// figures of demonstrations bring their own rates.
func (d *Daily) addUnconnected(ctx context.Context, connections []adlens.Connection) ([]adlens.Connection, error) {
	connected := map[string]bool{}
	for _, c := range connections {
		connected[c.Account] = true
	}
	accounts, err := d.Connector.Store.Accounts(ctx)
	for _, a := range accounts {
		if !connected[a.ID] && !a.IsDemo {
			connections = append(connections, adlens.Connection{Account: a.ID})
		}
	}
	return connections, err
}

// isUnconnected reports whether a connection is that of an account that has none.
func isUnconnected(c adlens.Connection) bool { return c.Name == "" }
