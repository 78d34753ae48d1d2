package schema

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"adlens/internal/clickhouse/conn"
)

// User is a user of a server that is not ours.
type User struct{ Name, Password string }

// The rights that adlens needs: tables of its own in one database, and a look
// at what the server does with them.
const (
	writerRights = "SELECT, INSERT, ALTER, CREATE DATABASE, CREATE TABLE, DROP TABLE, TRUNCATE, OPTIMIZE, " + syncRight
	readerRights = "SELECT"
	syncRight    = "SYSTEM SYNC REPLICA" // of a table, which the writer of replicas needs
)

// tableEngines are those of our tables: on one server, and on replicas of a shard.
var tableEngines = []string{"MergeTree", "ReplacingMergeTree", "ReplicatedMergeTree", "ReplicatedReplacingMergeTree"}

// systemTables are those that only the writer looks at.
var systemTables = []string{"system.mutations", "system.detached_parts", "system.tables", "system.clusters", "system.parts"}

// Grants are the statements that make the two users of a database, to be run by
// a user who may. The passwords are in them as hashes only.
func Grants(database string, writer, reader User) []string {
	return append(append(
		[]string{createUser(writer, ""), createUser(reader, " SETTINGS readonly = 2")},
		writerGrants(database, writer.Name)...), readerGrants(database, reader.Name)...)
}

func createUser(u User, settings string) string {
	hash := sha256.Sum256([]byte(u.Password))
	return fmt.Sprintf("CREATE USER IF NOT EXISTS %s IDENTIFIED WITH sha256_hash BY '%s'%s", plainName(u.Name), hex.EncodeToString(hash[:]), settings)
}

// writerGrants are the rights of the user who loads.
func writerGrants(database, name string) []string {
	grants := []string{fmt.Sprintf("GRANT %s ON %s.* TO %s", writerRights, plainName(database), plainName(name))}
	for _, table := range systemTables {
		grants = append(grants, fmt.Sprintf("GRANT SELECT ON %s TO %s", table, plainName(name)))
	}
	for _, engine := range tableEngines {
		grants = append(grants, fmt.Sprintf("GRANT TABLE ENGINE ON %s TO %s", engine, plainName(name)))
	}
	return grants
}

// readerGrants are the rights of the user who only reads.
func readerGrants(database, name string) []string {
	return []string{fmt.Sprintf("GRANT %s ON %s.* TO %s", readerRights, plainName(database), plainName(name))}
}

// rights are what a user of an existing server needs in its database.
var rights = []string{"SELECT", "INSERT", "ALTER TABLE", "CREATE TABLE", "DROP TABLE", syncRight}

// MissingRights returns what the user of a server may not do of what adlens
// does. A server that is too old to be asked says so in the error.
func MissingRights(ctx context.Context, s *conn.Server, database string) (missing []string, err error) {
	for _, right := range rights {
		if right == syncRight && !s.IsReplicated() {
			continue
		}
		var granted uint8
		err := s.ReadAsOwner(ctx, "CHECK GRANT "+right+" ON "+conn.QuoteIdentifier(database)+".*", nil, conn.ScanInto(&granted))
		if err != nil {
			return nil, err
		}
		if granted == 0 {
			missing = append(missing, right)
		}
	}
	return missing, nil
}

// SortRights returns the rights that are missing in one place or another, each once
// and in the order in which they are needed.
func SortRights(missing [][]string) (all []string) {
	for _, right := range rights {
		if slices.Contains(slices.Concat(missing...), right) {
			all = append(all, right)
		}
	}
	return all
}

// plainName writes a name plainly where that is possible, for people.
func plainName(name string) string {
	plain := strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
	if plain && name != "" && (name[0] < '0' || name[0] > '9') {
		return name
	}
	return conn.QuoteIdentifier(name)
}

// Address is what a user gives adlens, with HOST for the server's name.
func (u User) Address(database string) string {
	return (&url.URL{Scheme: "clickhouse", User: url.UserPassword(u.Name, u.Password), Host: "HOST:9000", Path: "/" + database}).String()
}
