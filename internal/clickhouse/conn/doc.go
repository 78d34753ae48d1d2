// Package conn is the only room that knows the driver. It finds a server of
// ClickHouse, connects to it as its two users, lets statements run in turns,
// streams blocks in and out, and turns exceptions into kinds of errors. It
// knows nothing of what is stored there.
//
// Values travel only as typed server parameters or as typed columns; no text
// of a statement is ever made from them.
package conn
