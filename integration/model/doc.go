// Package model is the oracle of the integration tests: it reads extract files
// from disk as the loader's contract says and computes, slowly and exactly,
// the answers that the API must give. It shares nothing with the program.
//
// Give it only well-formed files. The refusals that depend on what was loaded
// before (an unknown profile, a missing exchange rate, a country that stands for
// two marketplaces) it decides itself.
package model
