// Package clickhouse is the only room that knows the driver. It opens servers,
// brings their schema up to date, turns exceptions into kinds of errors, runs
// the statements that the query room writes, and keeps what the loader loads
// and what the auth room knows.
//
// Values travel only as typed server parameters or as typed columns; no text
// of a statement is ever made from them.
package clickhouse
