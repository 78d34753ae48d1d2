// Package lists holds the tests of campaigns, ad groups, rules, their runs and
// activity.
package lists
