// Package recipes holds the tests of what people paste into other programs: the
// recipes of the documentation and what the page writes for a view. Each runs as
// it is written, against the real server: in the tool itself where it can be had,
// else in a stricter stand-in for it. Each has to keep a table in step with
// figures that are restated.
package recipes
