// DuckDB as a peer of the benchmark: reads a statement as JSON on each line of
// standard input, {"sql": "...", "rows": true}, and answers on standard output
// with {"ms": ..., "rows": [[...]]} or {"error": "..."}. The time is from
// handing the statement over to having all its rows.
import { DuckDBInstance } from '@duckdb/node-api';
import { createInterface } from 'node:readline';

const [file, memory] = process.argv.slice(2);
const instance = await DuckDBInstance.create(file, { memory_limit: memory });
const connection = await instance.connect();
await connection.run('SET enable_progress_bar = false');

async function answer(line) {
  const { sql, rows } = JSON.parse(line);
  const began = process.hrtime.bigint();
  const reader = await connection.runAndReadAll(sql);
  const ms = Number(process.hrtime.bigint() - began) / 1e6;
  return rows ? { ms, rows: reader.getRowsJson() } : { ms };
}

for await (const line of createInterface({ input: process.stdin })) {
  let out;
  try {
    out = await answer(line);
  } catch (error) {
    out = { error: String(error?.message ?? error) };
  }
  process.stdout.write(JSON.stringify(out) + '\n');
}
connection.closeSync();
instance.closeSync();
