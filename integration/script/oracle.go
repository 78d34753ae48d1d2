package script

import (
	"net/url"
	"time"

	"adlens/integration/model"
)

// Oracle runs scripts on the model, so that what a script expects is itself
// checked by a second reckoning.
type Oracle struct {
	Now      time.Time
	accounts map[string]*model.Account
}

// Account makes an empty account.
func (o *Oracle) Account(id string) error {
	if o.accounts == nil {
		o.accounts = map[string]*model.Account{}
	}
	if o.accounts[id] == nil {
		o.accounts[id] = model.New()
	}
	return nil
}

// Load gives the directory to the account's model.
func (o *Oracle) Load(account, dir string) (bool, error) {
	refused := false
	for _, r := range o.accounts[account].Load(dir) {
		refused = refused || r.Status == model.Refused
	}
	return refused, nil
}

// Get answers the figure endpoints; it judges no faulty request.
func (o *Oracle) Get(account, path string) (int, any, error) {
	address, err := url.Parse(path)
	if err != nil {
		return 0, nil, err
	}
	a := o.accounts[account]
	q := address.Query()
	var answer map[string]any
	switch address.Path {
	case "/summary":
		answer, err = a.Summary(q, o.Now)
	case "/timeline":
		answer, err = a.Timeline(q, o.Now)
	case "/reports/products":
		answer, err = a.Products(q, o.Now)
	case "/report":
		answer, err = a.Report(q, o.Now)
	default:
		return 0, nil, ErrBeyond
	}
	if err != nil {
		return 0, nil, err
	}
	return 200, answer, nil
}

// JudgesFaults says no: the oracle presumes that requests are right.
func (o *Oracle) JudgesFaults() bool { return false }
