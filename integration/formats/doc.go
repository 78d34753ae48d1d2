// Package formats holds the tests of answers in other formats than JSON, of feeds,
// and of LibreOffice, which reads them.
package formats
