// Package api is the client of the ad platform's HTTP API: access tokens,
// profiles, reports and their downloads, and the lists of campaigns, ad groups
// and ads. It trusts nothing that it is answered: sizes, pages, redirects and
// waiting are bounded, a damaged or doubtful answer is an error and never half
// a result, and no error or event repeats a secret.
package api
