// Prints a table of a DuckDB file as lists of texts, names first: node duckdb.mjs
// FILE TABLE. The file may be :memory:.
import { DuckDBInstance } from '@duckdb/node-api'

const [file, table] = process.argv.slice(2)
const database = await (await DuckDBInstance.create(file, file === ':memory:' ? {} : { access_mode: 'READ_ONLY' })).connect()
const read = await database.runAndReadAll(`SELECT COLUMNS(*)::VARCHAR FROM ${table}`)
console.log(JSON.stringify([read.columnNames(), ...read.getRows().map((row) => row.map((cell) => cell ?? ''))]))
