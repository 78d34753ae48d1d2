package adlens

import "time"

// Account is a customer whose figures are kept apart from everybody else's.
type Account struct {
	ID           string
	Name         string
	IsDemo       bool
	Subscription string // one of Subscriptions
	CreatedAt    time.Time
}

// Canceled is the subscription status without which the API does not answer
// figures.
const Canceled = "canceled"

// Subscriptions are the states of a subscription.
var Subscriptions = []string{"active", "trialing", "past_due", Canceled}
