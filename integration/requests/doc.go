// Package requests holds the tests of the API's surface: addresses, parameters,
// keys, headers, examples and clients generated of the document.
package requests
