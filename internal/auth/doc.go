// Package auth knows who calls and how often they may: API keys, what stands
// behind a key, its last use, and the limits of an account.
//
// It knows neither HTTP nor a database, and no clock: now is an argument. The
// limits rely on its monotonic reading, so it should come from time.Now and
// not lose that reading on the way (Round, Truncate and storing it do so).
package auth
