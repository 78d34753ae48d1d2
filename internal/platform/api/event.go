package api

import "time"

// Event is something worth a line in a log. It holds no secret.
type Event struct {
	What   What
	Call   string        // such as "GET /v2/profiles"
	Try    int           // from 1; 0 where it does not apply
	Status int           // of HTTP; 0 where there was no answer
	Took   time.Duration // of an answered exchange
	Wait   time.Duration // until the next try
	Detail string        // why, or what
}

// What says what an event is about.
type What string

// The events.
const (
	Answered What = "answered"         // an exchange with the API or a download's host ended
	Waiting  What = "waiting"          // a try failed; another follows
	Renewed  What = "token renewed"    // there is a new access token
	Relisted What = "list read again"  // a list's pages did not add up
	Missed   What = "report not read"  // a look at a report failed; another follows
	Again    What = "download again"   // a download broke off and starts over
	Resumed  What = "report resumed"   // the same report was running already
	Given    What = "given up"         // the tries are used up
	Rejected What = "refused for good" // the platform refused the credentials
)

func (c *Client) logEvent(e Event) {
	if c.cfg.Log != nil {
		c.cfg.Log(e)
	}
}
