// Package faults holds the tests of kills, damage, full disks, power cuts and late
// writes.
package faults
