// Package http is the API as clients see it. Gin lives here and only here.
//
// Handlers return an answer or an error; one writer writes answers, one writer
// writes errors, and one table says which status an error has. What a request
// passes, in the contract's order: size, path, method, key, limit,
// subscription and scope, parameters, thing.
package http
