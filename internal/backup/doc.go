// Package backup copies what an installation holds to a place of files, a
// directory or an S3-compatible store, and back into an empty installation.
//
// A place holds any number of backups. Rows lie in files that are never
// changed, so backups share what did not change between them:
//
//	backups/TIME.HASH.json                     the index of a backup: its accounts
//	accounts/ID/catalogue.HASH.json            the files of an account
//	accounts/ID/TABLE[-MONTH].HASH.rows.zst    rows
//
// The index is written last. It names each catalogue with its SHA-256, and a
// catalogue each file, so whatever is damaged or missing is found by name. A
// file of rows is RowBinaryWithNamesAndTypes as ClickHouse documents it, in a
// frame of zstd: any ClickHouse reads it without adlens.
//
// The package knows nothing of how rows are stored; Source and Sink say what
// it needs of a database.
package backup
