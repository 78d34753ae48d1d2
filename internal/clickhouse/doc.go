// Package clickhouse puts the rooms below it together: an open database is each of
// the ports that the program knows, on one server or on the shards of a cluster.
package clickhouse
