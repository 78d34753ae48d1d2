package engine

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"os"
	"strings"
)

// configText is the server part of the engine's configuration. Limits that
// ClickHouse leaves open by default are closed here: a laptop has no memory
// to spare for a runaway query, and a cache of marks needs no five gigabytes.
//
// No statement of ours uses statistics of columns, and making them of a hundred
// columns in each part takes more than the columns do (decision 42).
//
// Every file of every part is synced, also of tables on which nothing hangs and
// of merges: a write that failed is noticed there and nowhere else (decision 46).
//
// Background work of an idle engine is slowed down. By default each table looks ten times
// a second whether there is something to merge, less often only after minutes,
// and memory is counted twenty times a second. An insert or a deletion wakes its
// table without that, and so does a merge that has ended; but one that comes while
// the table looks is not noticed before the next look, and who waits for a deletion
// waits for that. So a look is never far away.
//
// The listener shares its port with the socket that reserves it (reserveAddress).
//
// The handlers are the door. A session of the library cannot have a password
// for its user default, and a client that is that user can read any file of ours by
// the scalar function file(). So nothing at all is answered, neither the
// pages nor a query, without a header whose value only engine.json knows.
const configText = `<clickhouse>
  <users_config>%s</users_config>
  <http_handlers>
    <rule>
      <headers><X-Adlens-Gate>%s</X-Adlens-Gate></headers>
      <handler><type>dynamic_query_handler</type><query_param_name>query</query_param_name></handler>
    </rule>
  </http_handlers>
  <max_server_memory_usage_to_ram_ratio>0.6</max_server_memory_usage_to_ram_ratio>
  <max_concurrent_queries>64</max_concurrent_queries>
  <mark_cache_size>536870912</mark_cache_size>
  <uncompressed_cache_size>0</uncompressed_cache_size>
  <shutdown_wait_unfinished>1</shutdown_wait_unfinished>
  <listen_reuse_port>1</listen_reuse_port>
  <keep_alive_timeout>60</keep_alive_timeout>
  <memory_worker_period_ms>1000</memory_worker_period_ms>
  <background_processing_pool_thread_sleep_seconds_if_nothing_to_do>1</background_processing_pool_thread_sleep_seconds_if_nothing_to_do>
  <background_processing_pool_task_sleep_seconds_when_no_work_max>5</background_processing_pool_task_sleep_seconds_when_no_work_max>
  <background_streaming_processing_pool_thread_sleep_seconds_if_nothing_to_do>60</background_streaming_processing_pool_thread_sleep_seconds_if_nothing_to_do>
  <merge_tree>
    <auto_statistics_types></auto_statistics_types>
    <fsync_after_insert>1</fsync_after_insert>
    <min_rows_to_fsync_after_merge>1</min_rows_to_fsync_after_merge>
    <min_compressed_bytes_to_fsync_after_merge>1</min_compressed_bytes_to_fsync_after_merge>
  </merge_tree>
</clickhouse>
`

// usersText is the second lock, behind the gate. The user default may open the
// listener and has a quota of one query; the loader owns the database; the
// reader selects from it. A report by day and product may have more groups than fit
// memory.
const usersText = `<clickhouse>
  <profiles>
    <default><max_execution_time>1</max_execution_time><max_memory_usage>10000000</max_memory_usage></default>
    <loader>%[3]s
      <max_execution_time>0</max_execution_time><max_memory_usage>4000000000</max_memory_usage><max_bytes_before_external_group_by>1000000000</max_bytes_before_external_group_by></loader>
    <reader>%[3]s
      <readonly>2</readonly><max_memory_usage>4000000000</max_memory_usage>
      <max_bytes_before_external_group_by>1000000000</max_bytes_before_external_group_by><max_bytes_before_external_sort>1000000000</max_bytes_before_external_sort><max_execution_time>120</max_execution_time>
      <cancel_http_readonly_queries_on_client_close>1</cancel_http_readonly_queries_on_client_close></reader>
  </profiles>
  <quotas>
    <once><interval><duration>1000000000</duration><queries>1</queries></interval></once>
    <free><interval><duration>3600</duration></interval></free>
  </quotas>
  <users>
    <default><no_password/><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>once</quota>
      <grants><query>GRANT SYSTEM LISTEN ON *.*</query></grants></default>
    <loader><password_sha256_hex>%[1]s</password_sha256_hex><networks><ip>127.0.0.1</ip></networks><profile>loader</profile><quota>free</quota>
      <grants><query>GRANT SELECT, INSERT, ALTER, CREATE, DROP, TRUNCATE, OPTIMIZE ON adlens.*</query>
        <query>GRANT TABLE ENGINE ON MergeTree</query><query>GRANT TABLE ENGINE ON ReplacingMergeTree</query><query>GRANT SELECT ON system.*</query></grants></loader>
    <reader><password_sha256_hex>%[2]s</password_sha256_hex><networks><ip>127.0.0.1</ip></networks><profile>reader</profile><quota>free</quota>
      <grants><query>GRANT SELECT ON adlens.*</query></grants></reader>
  </users>
</clickhouse>
`

// compileLate has terms of a statement compiled when it has run often. Compiling takes
// some 45 ms, and makes sums of a hundred million rows a twentieth faster.
const compileLate = `<min_count_to_compile_expression>50</min_count_to_compile_expression>
      <min_count_to_compile_aggregate_expression>50</min_count_to_compile_aggregate_expression><min_count_to_compile_sort_description>50</min_count_to_compile_sort_description>`

// writeConfig writes the engine's configuration for these passwords. The
// files hold hashes only.
func (h home) writeConfig(e Endpoint) error {
	if err := os.WriteFile(h.configFile(), []byte(fmt.Sprintf(configText, escapeXML(h.usersFile()), e.Gate)), 0o600); err != nil {
		return err
	}
	users := fmt.Sprintf(usersText, sha256Hex(e.LoaderPassword), sha256Hex(e.ReaderPassword), compileLate)
	return os.WriteFile(h.usersFile(), []byte(users), 0o600)
}

// escapeXML is text for XML: a data directory may have any name.
func escapeXML(text string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(text)) // a Builder does not fail
	return b.String()
}

func sha256Hex(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// newPassword is 128 random bits, new for each start of the engine.
func newPassword() string {
	return rand.Text()
}
