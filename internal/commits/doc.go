// Package commits decides what of an account is live and what a writer may do:
// which commits form the chain, which row of a unit wins, which number is free,
// what became of a commit whose answer was lost, which rows are dead, what is
// missing. It reads and writes rows through the port of package tables and has
// no SQL, so the same rules run on the engine and on a model of it.
package commits
