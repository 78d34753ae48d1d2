// Package console reads the reports that sellers and vendors download by hand
// from the advertising console, as CSV files or Excel workbooks: their columns in
// the console's languages, days and numbers as they are written there. It turns
// them into the rows of the platform's own reports; what follows from rows is
// computed elsewhere, once.
package console
