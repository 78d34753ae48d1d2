// Package doctor examines an installation: where the data lie, the engine, what
// is stored against what was loaded, and whether keys, clocks and the
// connection to the platform are as they should be. It says what it found and
// what to do about it, and changes nothing.
package doctor
