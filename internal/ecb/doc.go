// Package ecb reads and writes the files in which the European Central Bank
// publishes its euro foreign exchange reference rates, and computes the worth of
// each currency in US dollars from them.
//
// A file is CSV, or a zip archive that holds one. Its header is the word Date and
// the codes of currencies; each row is a day and what one euro is worth in each
// currency on it, N/A where the bank has no rate. Every line ends with a comma.
// There are no rows for weekends and for the days on which the TARGET system is
// closed. eurofxref-hist.csv writes days like 2026-11-20, the newest first, from
// 1999-01-04 on; eurofxref.csv has the newest day alone, like 20 November 2026, and
// a space after each comma (ecb.europa.eu, euro foreign exchange reference rates,
// downloads; rows as recorded in iamcal/currency-converter's eurofxref-hist.csv of
// 2016 and in clinvoice_finance's sample of 2021-06-03).
package ecb
