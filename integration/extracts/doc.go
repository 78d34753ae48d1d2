// Package extracts writes random but well-formed extract directories: several
// accounts, marketplaces in several currencies, and reports that overlap,
// restate, repeat and vanish; and lists and records, in which all accounts have
// the same ids. The same seed and day write the same files.
package extracts
