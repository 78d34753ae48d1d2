// Package house holds what the integration tests of several subjects share:
// programs and servers to test, files to load, questions to ask and their right
// answers.
package house
