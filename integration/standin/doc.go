// Package standin plays the advertising platform in tests: its token endpoint,
// its API hosts of three regions, and the storage that hands out files.
//
// It keeps to what is known of the real one, prefers the stricter reading
// where that is open (a client that passes here is safe with either), records
// every call without its secrets, and misbehaves on demand: see Fault.
//
//	p := standin.New(standin.Config{
//		Profiles: []standin.Profile{{ID: 1, Country: "US"}},
//		Facts:    []standin.Fact{{Profile: 1, AdProduct: standin.SponsoredProducts, Day: "2026-11-01", Clicks: 3}},
//	})
//	defer p.Close()
//	p.Inject(standin.Fault{On: standin.ReportPoll, Nth: 2, Do: standin.ExpiredToken()})
//
// Everything may be used from several goroutines.
package standin
