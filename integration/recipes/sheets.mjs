// Runs the Apps Script of the recipe for Google Sheets, as it stands in the
// documentation, against a server: node sheets.mjs RECIPE SERVER KEY TABLES.
// Google's services are replaced by the least that behaves like them; requests
// are real. What the script wrote is printed as JSON.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import vm from 'node:vm'

const [recipe, server, key, tables] = process.argv.slice(2)
const script = readFileSync(recipe, 'utf8').match(/```js\n([\s\S]*?)```/)[1]

// fetch is synchronous, as UrlFetchApp is.
function fetch(address, { headers, muteHttpExceptions }) {
  const lines = Object.entries(headers).map(([name, value]) => `header = "${name}: ${value}"`).join('\n')
  const out = execFileSync('curl', ['--silent', '--include', '--config', '-', address], { input: lines, maxBuffer: 64 << 20 }).toString()
  const end = out.indexOf('\r\n\r\n')
  const [status, ...said] = out.slice(0, end).split('\r\n')
  const code = Number(status.split(' ')[1])
  if (code >= 400 && !muteHttpExceptions) throw new Error(`Request failed, code ${code}`)
  return {
    getResponseCode: () => code,
    getContentText: () => out.slice(end + 4),
    getAllHeaders: () => Object.fromEntries(said.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)])),
  }
}

// parseCsv is RFC 4180.
function parseCsv(text) {
  const rows = [[]]
  const cell = /("(?:[^"]|"")*"|[^,\r\n]*)(,|\r?\n|$)/y
  while (cell.lastIndex < text.length) {
    const [, value, end] = cell.exec(text)
    rows.at(-1).push(value.startsWith('"') ? value.slice(1, -1).replaceAll('""', '"') : value)
    if (end !== ',' && cell.lastIndex < text.length) rows.push([])
  }
  return rows
}

const sheets = {}
const slept = []

function sheet(name) {
  const s = (sheets[name] ??= { rows: [], texts: [] })
  return {
    clearContents: () => { s.rows = [] },
    getRange: (row, column, rows, columns = 1) => ({
      setNumberFormat: (format) => { if (format === '@') s.texts.push(column) },
      setValues: (values) => {
        if (values.length !== rows || values.some((v) => v.length !== columns)) throw new Error('The number of rows or columns does not match the range')
        s.rows = values
      },
    }),
  }
}

const world = {
  UrlFetchApp: { fetch },
  Utilities: {
    parseCsv,
    sleep: (milliseconds) => { slept.push(milliseconds); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds) },
  },
  PropertiesService: { getScriptProperties: () => ({ getProperty: (name) => ({ ADLENS: server, ADLENS_KEY: key })[name] }) },
  SpreadsheetApp: { getActiveSpreadsheet: () => ({ getSheetByName: (name) => (name in sheets ? sheet(name) : null), insertSheet: sheet }) },
}
const asked = tables ? script.replace(/const TABLES = \{[\s\S]*?\};/, `const TABLES = ${tables};`) : script
vm.runInNewContext(`${asked}\nrefresh()`, world)
console.log(JSON.stringify({ sheets, slept }))
