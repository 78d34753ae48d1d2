// Package backup holds the tests of backups and restores.
package backup
