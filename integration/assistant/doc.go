// Package assistant tests what assistants are answered: their tools against the
// oracle, and the protocol with programs that others wrote.
package assistant
