// Package catalogue holds the domain's tables as data: measures, figures,
// dimensions, parameters and endpoints.
//
// A row here is the one place that names its thing. Statements, sums, parsers,
// writers, the API's document and the documentation's tables are made of these
// rows by ranging over them.
package catalogue
