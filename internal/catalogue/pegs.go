package catalogue

// Peg is a currency of the platform's marketplaces that its central bank holds at
// a fixed number of units for one US dollar, and that the European Central Bank
// publishes no rate of.
type Peg struct {
	Currency string // ISO 4217
	Name     string // English
	PerUSD   string // units of the currency for one US dollar, a decimal
	Since    int    // year
	Source   string // who says so, and where
}

// Pegs are the pegged currencies, by code. The Egyptian pound is the only other
// currency of a marketplace without a rate from the European Central Bank; it
// floats, and needs rates that are loaded by hand.
var Pegs = []Peg{
	{"AED", "dirham of the United Arab Emirates", "3.6725", 1997, "Central Bank of the UAE, official rate (alarabiya.net, 2014-12-01: fixed at 3.6725 since 1997)"},
	{"SAR", "Saudi riyal", "3.75", 1986, "Saudi Central Bank, affirmed on 2020-05-04 (sama.gov.sa, news-557)"},
}
