// Package platform knows the ad platform's formats: its report objects, their
// downloads, its profiles, and the measures that its reports hold. It decodes
// and names what is wrong with a value; it decides nothing about loading and
// knows nothing of ClickHouse.
package platform
