// Package engine keeps the embedded ClickHouse of a data directory running.
//
// The engine is a process of its own: this very binary, started with a hidden
// command, with the ClickHouse library loaded into it (process.go). Every
// adlens command that needs data is a user of that process: Open joins the
// users of a directory and starts the engine where none runs; Close leaves.
// The engine stops by itself, cleanly, when its last user has left or died,
// so no command can take it away from another, whichever of them started it.
//
// Who is alive is never guessed from process ids: the kernel's file locks
// tell it, and it releases them when a process dies, however it dies.
//
//	start.lock    held during a look for the engine and starts it
//	engine.lock   held by the engine for its whole life
//	users.lock    shared by all users; the engine stops when it can have it alone
//	engine.json   address, passwords and version of the running engine (owner only)
//	engine.log    what the engine said; engine.log.1 is that of the one before
package engine
