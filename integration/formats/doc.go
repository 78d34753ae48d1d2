// Package formats holds the tests of answers in other formats than JSON, and of
// those who read them: feeds, spreadsheets and recipes.
package formats
