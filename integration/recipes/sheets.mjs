// Runs the Apps Script of the recipe for Google Sheets, as it stands in the
// documentation, against a server: node sheets.mjs RECIPE SERVER KEY TABLES. A
// RECIPE that is no Markdown is the script itself.
// Google's services are replaced by the least that behaves like them; requests
// are real. What the script wrote is printed as JSON.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import vm from 'node:vm'

const [recipe, server, key, tables] = process.argv.slice(2)
const text = readFileSync(recipe, 'utf8')
const script = recipe.endsWith('.md') ? text.match(/```js\n([\s\S]*?)```/)[1] : text

// fetch is synchronous, as UrlFetchApp is.
function fetch(address, { headers, muteHttpExceptions }) {
  const lines = Object.entries(headers).map(([name, value]) => `header = "${name}: ${value}"`).join('\n')
  const out = execFileSync('curl', ['--silent', '--include', '--config', '-', address], { input: lines, maxBuffer: 64 << 20 }).toString()
  const end = out.indexOf('\r\n\r\n')
  const [status, ...said] = out.slice(0, end).split('\r\n')
  const code = Number(status.split(' ')[1])
  const names = Object.fromEntries(said.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]))
  if (code >= 400 && !muteHttpExceptions) throw new Error(`Request failed, code ${code}`)
  return {
    getResponseCode: () => code,
    getContentText: () => out.slice(end + 4),
    getHeaders: () => names,
    getAllHeaders: () => names,
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
  const itself = {
    clearContents: () => { s.rows = []; return itself },
    getRange: (row, column, rows, columns = 1) => ({
      setNumberFormat: (format) => { if (format === '@') s.texts.push(column) },
      setValues: (values) => {
        if (values.length !== rows || values.some((v) => v.length !== columns)) throw new Error('The number of rows or columns does not match the range')
        s.rows = values
      },
    }),
  }
  return itself
}

const world = {
  UrlFetchApp: { fetch },
  Utilities: {
    parseCsv,
    sleep: (milliseconds) => { slept.push(milliseconds); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds) },
  },
  PropertiesService: { getScriptProperties: () => ({ getProperty: (name) => ({ ADLENS: server, ADLENS_KEY: key })[name] }) },
  SpreadsheetApp: { getActiveSpreadsheet: () => ({ getSheetByName: (name) => (name in sheets ? sheet(name) : null), insertSheet: sheet }), getActiveSheet: () => sheet('active') },
}
const asked = tables ? script.replace(/const TABLES = \{[\s\S]*?\};/, `const TABLES = ${tables};`) : script
vm.runInNewContext(`${asked}\nrefresh()`, world)
console.log(JSON.stringify({ sheets, slept }))
