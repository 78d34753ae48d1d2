// Package browser holds the tests of the page at / in a real browser: what is
// seen and said there is compared with what the API answers.
//
// They need Debian's chromium, and are left out where there is none; the
// checker of accessibility comes from npm (make fetches it).
package browser
