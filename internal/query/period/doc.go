// Package period is the calendar of a question: named ranges, explicit dates and
// time zones.
//
// It is pure: the time now is an argument, and time zones come from the
// database in the binary, so that an answer is the same on every machine.
package period
