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

// maxDisplayed is how many characters of an account's name are shown next to its id.
const maxDisplayed = 80

// DisplayName tells the account from others: its id and, where that is known and another
// one, its name.
func (a Account) DisplayName() string {
	name := CleanText(a.Name, maxDisplayed)
	if name == "" || name == a.ID {
		return a.ID
	}
	return a.ID + " (" + name + ")"
}

// Canceled is the subscription status without which the API does not answer
// figures.
const Canceled = "canceled"

// Subscriptions are the states of a subscription.
var Subscriptions = []string{"active", "trialing", "past_due", Canceled}
