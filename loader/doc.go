// Package loader turns the platform's extracts into visible figures.
//
// A file goes one way: found, decoded and checked to its last byte, summed
// exactly to the grain of the facts (day and product), converted, written
// under generations that are not read yet, summed again by the store at every
// level and compared, and then made visible by one insert into the manifest.
// Whatever is killed when, readers see the state before or the state after.
//
// The package knows the rules and neither ClickHouse nor a terminal: it writes
// through Store and reports through Progress.
package loader
