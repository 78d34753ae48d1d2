// Package figures holds the tests of figures: random cases, comparisons,
// orders of loading and scripts, compared with the model.
package figures
