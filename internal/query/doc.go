// Package query is the heart: it turns parameters into a request, a request
// into a plan, a plan into a statement, and rows into a report. It is pure: no
// HTTP framework, no driver, and the time of a request is an argument. Each step
// changes the type and nothing else, so each can be compared with golden files alone:
//
//	parameters -> Request -> Plan -> Statement -> rows -> report
//
// The account is part of the plan from its beginning; there is no statement
// without it.
//
// Every report is divided by dimensions. There are two ways to one: rows in memory
// (day totals, and of reports by product alone the rows of products; who calls Fill
// decides when those are read), or a statement that sums, ranks and cuts.
package query
