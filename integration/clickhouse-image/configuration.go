package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
)

// configText is the server's configuration; files in config.d add to it.
const configText = `<clickhouse>
  <users_config>%s/users.xml</users_config>
  <http_port>8123</http_port>
  <tcp_port>9000</tcp_port>
  <max_server_memory_usage_to_ram_ratio>0.6</max_server_memory_usage_to_ram_ratio>
  <mark_cache_size>536870912</mark_cache_size>
  <shutdown_wait_unfinished>1</shutdown_wait_unfinished>
  %s
</clickhouse>
`

// aloneText is what a server by itself has too. Tests leave thousands of tables, of which each
// would look for merges ten times a second. A replica would fetch parts as rarely.
const aloneText = `<background_processing_pool_thread_sleep_seconds_if_nothing_to_do>10</background_processing_pool_thread_sleep_seconds_if_nothing_to_do>
  <background_streaming_processing_pool_thread_sleep_seconds_if_nothing_to_do>60</background_streaming_processing_pool_thread_sleep_seconds_if_nothing_to_do>`

// replicaText is what a replica has: the listener that clients reach before the one for
// other servers, and a place in Keeper that is its own, since clickhouse-local has no id
// and a server ends the sessions of another with the same.
const replicaText = `<listen_host>%[1]s</listen_host><listen_host>127.0.0.1</listen_host>
  <zookeeper><sessions_path>/sessions/%[1]s</sessions_path></zookeeper>`

// configureReplica returns the part of the configuration in which replicas differ.
func configureReplica() (string, error) {
	if !isReplica {
		return aloneText, nil
	}
	host, err := ownAddress()
	return fmt.Sprintf(replicaText, host), err
}

// usersText has the session's own user, who can do nothing but open the
// listeners, and the one that the variables name, who can do all.
const usersText = `<clickhouse>
  <profiles>
    <default/>
    <session><max_execution_time>5</max_execution_time><max_memory_usage>10000000</max_memory_usage></session>
    <readonly><readonly>2</readonly></readonly>
  </profiles>
  <quotas>
    <default><interval><duration>3600</duration></interval></default>
    <session><interval><duration>1000000000</duration><queries>8</queries></interval></session>
  </quotas>
  <users>
    <default><no_password/><networks><ip>127.0.0.1</ip></networks><profile>session</profile><quota>session</quota>
      <grants><query>GRANT SYSTEM LISTEN ON *.*</query></grants></default>
    <%[1]s><password_sha256_hex>%[2]s</password_sha256_hex><networks><ip>::/0</ip></networks><profile>default</profile><quota>default</quota>
      <access_management>1</access_management><named_collection_control>1</named_collection_control></%[1]s>
  </users>
</clickhouse>
`

// configure writes the configuration for the user that the variables name.
func configure() error {
	user, password := os.Getenv("CLICKHOUSE_USER"), os.Getenv("CLICKHOUSE_PASSWORD")
	if user == "" || password == "" {
		return fmt.Errorf("CLICKHOUSE_USER and CLICKHOUSE_PASSWORD are needed; the user is %q", user)
	}
	if err := xml.Unmarshal([]byte("<"+user+"/>"), new(struct{ XMLName xml.Name })); err != nil {
		return fmt.Errorf("CLICKHOUSE_USER is %q, expected letters and digits: %w", user, err)
	}
	if err := os.MkdirAll(configuration, 0o700); err != nil {
		return err
	}
	hash := sha256.Sum256([]byte(password))
	users := fmt.Sprintf(usersText, user, hex.EncodeToString(hash[:]))
	if err := os.WriteFile(filepath.Join(configuration, "users.xml"), []byte(users), 0o600); err != nil {
		return err
	}
	replica, err := configureReplica()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(configuration, "config.xml"), fmt.Appendf(nil, configText, configuration, replica), 0o600)
}
