package clickhouse

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
)

// User is a user of a server that is not ours.
type User struct{ Name, Password string }

// The rights that adlens needs: tables of its own in one database, and a look
// at what the server does with them.
const (
	writerRights = "SELECT, INSERT, ALTER, CREATE DATABASE, CREATE TABLE, DROP TABLE, TRUNCATE, OPTIMIZE"
	readerRights = "SELECT"
)

// tableEngines are those of our tables: on one server, and on replicas of a shard.
var tableEngines = []string{"MergeTree", "ReplacingMergeTree", "ReplicatedMergeTree", "ReplicatedReplacingMergeTree"}

// looked are the system tables that only the writer looks at.
var looked = []string{"system.mutations", "system.detached_parts", "system.tables", "system.clusters", "system.parts"}

// Grants are the statements that make the two users of a database, to be run by
// somebody who may. The passwords are in them as hashes only.
func Grants(database string, writer, reader User) []string {
	return append(append(
		[]string{createUser(writer, ""), createUser(reader, " SETTINGS readonly = 2")},
		WriterGrants(database, writer.Name)...), ReaderGrants(database, reader.Name)...)
}

func createUser(u User, settings string) string {
	hash := sha256.Sum256([]byte(u.Password))
	return fmt.Sprintf("CREATE USER IF NOT EXISTS %s IDENTIFIED WITH sha256_hash BY '%s'%s", named(u.Name), hex.EncodeToString(hash[:]), settings)
}

// WriterGrants are the rights of the user who loads.
func WriterGrants(database, name string) []string {
	grants := []string{fmt.Sprintf("GRANT %s ON %s.* TO %s", writerRights, named(database), named(name))}
	for _, table := range looked {
		grants = append(grants, fmt.Sprintf("GRANT SELECT ON %s TO %s", table, named(name)))
	}
	for _, engine := range tableEngines {
		grants = append(grants, fmt.Sprintf("GRANT TABLE ENGINE ON %s TO %s", engine, named(name)))
	}
	return grants
}

// ReaderGrants are the rights of the user who only reads.
func ReaderGrants(database, name string) []string {
	return []string{fmt.Sprintf("GRANT %s ON %s.* TO %s", readerRights, named(database), named(name))}
}

// named writes a name plainly where that is possible, for people.
func named(name string) string {
	plain := strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
	if plain && name != "" && (name[0] < '0' || name[0] > '9') {
		return name
	}
	return identifier(name)
}

// Address is what a user gives adlens, with HOST for the server's name.
func (u User) Address(database string) string {
	return (&url.URL{Scheme: "clickhouse", User: url.UserPassword(u.Name, u.Password), Host: "HOST:9000", Path: "/" + database}).String()
}
