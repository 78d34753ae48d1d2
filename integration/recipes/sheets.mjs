// Google Sheets with its Apps Script, for one script: node sheets.mjs SCRIPT BOOK
// ACTION... The sheets, properties and triggers of the file BOOK are read, the
// actions done in their order, and the file written again. An action is
//
//   open            the sheet is opened: onOpen makes its menu
//   menu:LABEL      an item of the menu is chosen; prompt:TEXT answers its prompt
//   morning         the time triggers fire
//   busy            another run holds the lock during the next action
//   die:METHOD      the next call of this method ends the run, as a time limit does
//
// Requests are real; Google's services are here, and stricter: what they do not
// have, what is out of a sheet's bounds or over a quota, and what a kind of run
// may not do, is an error. The country of the sheet writes decimals with a comma.
// What came of it is one line of JSON.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import vm from 'node:vm'

const [file, bookFile, ...actions] = process.argv.slice(2)
const book = existsSync(bookFile) ? JSON.parse(readFileSync(bookFile, 'utf8')) : { sheets: {}, properties: {}, triggers: [] }
const done = { requests: [], slept: [], errors: [] }

// The quotas (developers.google.com/apps-script/guides/services/quotas).
const MOST = { fetches: 20_000, answer: 50 << 20, address: 2082, property: 9 << 10, properties: 500 << 10, triggers: 20, run: 360_000, sleep: 300_000, cells: 10_000_000, cell: 50_000 }

let run = { kind: 'none', busy: false, dies: '', prompts: [], slept: 0, locked: false }
let menu = {}

// strict is an object that fails where it is asked for what it has not.
function strict(name, members) {
  return new Proxy(members, {
    get(target, key) {
      if (typeof key === 'symbol') return target[key]
      if (!(key in target)) throw new TypeError(`${name}.${key} does not exist`)
      const member = target[key]
      if (typeof member !== 'function') return member
      return (...args) => {
        if (args.length > member.length && !member.more) throw new Error(`The parameters (${args}) do not match ${name}.${key}`)
        if (run.dies === key) {
          run.dies = ''
          throw new Error('Exceeded maximum execution time')
        }
        return member(...args)
      }
    },
  })
}

function limit(value, most, what) {
  if (value > most) throw new Error(`Limit exceeded: ${what}, ${value} of ${most}`)
}

// may says which kinds of runs may call a service.
function may(what, ...kinds) {
  if (!kinds.includes(run.kind)) throw new Error(`You do not have permission to call ${what} in a run of kind ${run.kind}`)
}

// fetch is synchronous, as Google's is, and accepts gzip.
function fetch(address, options = {}) {
  may('UrlFetchApp.fetch', 'menu', 'time')
  limit(address.length, MOST.address, 'URLFetch URL Length')
  limit(done.requests.length + 1, MOST.fetches, 'calls in a day')
  for (const name of Object.keys(options)) if (!['headers', 'muteHttpExceptions'].includes(name)) throw new Error(`fetch has an option ${name}`)
  const lines = Object.entries(options.headers ?? {}).map(([name, value]) => `header = "${name}: ${String(value).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`).join('\n')
  const { stdout, stderr, status } = spawnSync('curl', ['--silent', '--compressed', '--include', '--write-out', '%{stderr}%{size_download}', '--config', '-', address], { input: lines, maxBuffer: 80 << 20 })
  if (status !== 0) throw new Error(`Address unavailable: ${address}`)
  const out = stdout.toString()
  const end = out.indexOf('\r\n\r\n')
  const [first, ...said] = out.slice(0, end).split('\r\n')
  const code = Number(first.split(' ')[1])
  done.requests.push({ path: address.replace(/^https?:\/\/[^/]*/, ''), status: code, bytes: Number(stderr.toString()) })
  if (code >= 400 && !options.muteHttpExceptions) throw new Error(`Request failed, code ${code}`)
  const text = out.slice(end + 4)
  limit(text.length, MOST.answer, 'URLFetch response size')
  return strict('HTTPResponse', {
    getResponseCode: () => code,
    getContentText: () => text,
    getAllHeaders: () => Object.fromEntries(said.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)])),
  })
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

// entered is what a cell becomes: a text is read as if it was typed, by the
// habits of the sheet's country, where the cell is not formatted as text.
function entered(value, format) {
  if (typeof value === 'number') return format === '@' ? String(value) : value
  if (typeof value !== 'string') throw new Error(`a cell cannot hold ${value}`)
  limit(value.length, MOST.cell, 'characters of a cell')
  if (format === '@' || value === '') return value
  if (value.startsWith("'")) return value.slice(1)
  if (/^[=+]/.test(value)) throw new Error(`${value} is a formula`)
  if (/^\d{4}-\d\d-\d\d$/.test(value)) return { date: value }
  if (/^\d+\.\d+(\.\d+)?$/.test(value)) return { date: `misread ${value}` }
  if (/^\d+:\d\d$/.test(value)) return { time: value }
  return /^-?\d+(,\d+)?$/.test(value) ? Number(value.replace(',', '.')) : value
}

function sheetOf(name) {
  const s = book.sheets[name]
  const resize = (which) => (after, count) => {
    if (after !== s[which] || !(count >= 1)) throw new Error(`Those ${which} are out of bounds`)
    s[which] += count
    limit(s.rows * s.columns, MOST.cells, 'cells')
  }
  return strict('Sheet', {
    getMaxRows: () => s.rows,
    getMaxColumns: () => s.columns,
    insertRowsAfter: (after, count) => resize('rows')(after, count),
    insertColumnsAfter: (after, count) => resize('columns')(after, count),
    setFrozenRows: (count) => { s.frozen = count },
    getRange: Object.assign((row, column, rows = 1, columns = 1) => rangeOf(s, row, column, rows, columns), { more: true }),
  })
}

function rangeOf(s, row, column, rows, columns) {
  if (![row, column, rows, columns].every((n) => Number.isInteger(n) && n >= 1)) throw new Error('The starting row or the number of rows of the range is too small')
  if (row + rows - 1 > s.rows || column + columns - 1 > s.columns) throw new Error('The coordinates of the range are outside the dimensions of the sheet')
  const each = (act) => {
    for (let r = row; r < row + rows; r++) for (let c = column; c < column + columns; c++) act(`${r},${c}`, r - row, c - column)
  }
  return strict('Range', {
    clearContent: () => each((at) => { delete s.cells[at] }),
    clearFormat: () => each((at) => { delete s.formats[at] }),
    setNumberFormat: (format) => each((at) => { s.formats[at] = format }),
    setValues: (values) => {
      if (values.length !== rows) throw new Error(`The number of rows in the data does not match: ${values.length} but the range has ${rows}`)
      if (values.some((line) => line.length !== columns)) throw new Error('The number of columns in the data does not match the range')
      each((at, r, c) => {
        const value = entered(values[r][c], s.formats[at])
        if (value === '') delete s.cells[at]
        else s.cells[at] = value
      })
    },
  })
}

const ui = () => {
  may('SpreadsheetApp.getUi', 'open', 'menu')
  const Button = strict('Button', { OK: 'OK', CANCEL: 'CANCEL', CLOSE: 'CLOSE' })
  const ButtonSet = strict('ButtonSet', { OK: 'OK', OK_CANCEL: 'OK_CANCEL' })
  return strict('Ui', {
    Button, ButtonSet,
    createMenu: (title) => {
      const items = {}
      const made = strict('Menu', {
        addItem: (label, name) => { items[label] = name; return made },
        addSeparator: () => made,
        addToUi: () => { menu = { title, items } },
      })
      return made
    },
    prompt: (title, text, buttons) => {
      if (buttons !== 'OK_CANCEL' || !run.prompts.length) throw new Error(`no one answers ${title}: ${text}`)
      const said = run.prompts.shift()
      return strict('PromptResponse', { getSelectedButton: () => 'OK', getResponseText: () => said })
    },
  })
}

const properties = strict('Properties', {
  getProperty: (name) => book.properties[name] ?? null,
  setProperty: (name, value) => {
    if (typeof value !== 'string') throw new Error(`the property ${name} is no text`)
    limit(value.length, MOST.property, 'property value size')
    book.properties[name] = value
    limit(JSON.stringify(book.properties).length, MOST.properties, 'property storage')
  },
})

const triggerOf = (t) => strict('Trigger', { id: t.id, getHandlerFunction: () => t.handler })

const builder = (handler) => {
  const made = { id: Date.now() + Math.random(), handler }
  const clock = strict('ClockTriggerBuilder', {
    everyDays: (days) => { made.days = days; return clock },
    atHour: (hour) => { made.hour = hour; return clock },
    create: () => {
      if (!made.days || !(made.hour >= 0 && made.hour <= 23)) throw new Error('The trigger has no time')
      limit(book.triggers.length + 1, MOST.triggers, 'triggers')
      book.triggers.push(made)
      return triggerOf(made)
    },
  })
  return strict('TriggerBuilder', { timeBased: () => clock })
}

const world = {
  console,
  UrlFetchApp: strict('UrlFetchApp', { fetch: Object.assign((address, options) => fetch(address, options), { more: true }) }),
  Utilities: strict('Utilities', {
    parseCsv: (text) => parseCsv(text),
    sleep: (milliseconds) => {
      limit(milliseconds, MOST.sleep, 'sleep')
      limit(run.slept += milliseconds, MOST.run, 'execution time')
      done.slept.push(milliseconds)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
    },
  }),
  PropertiesService: strict('PropertiesService', { getScriptProperties: () => properties }),
  LockService: strict('LockService', {
    getDocumentLock: () => strict('Lock', {
      tryLock: (milliseconds) => (run.busy || !(milliseconds >= 0) ? false : (run.locked = true)),
      releaseLock: () => { run.locked = false },
    }),
  }),
  ScriptApp: strict('ScriptApp', {
    newTrigger: (handler) => { may('ScriptApp', 'menu'); return builder(handler) },
    getProjectTriggers: () => { may('ScriptApp', 'menu'); return book.triggers.map(triggerOf) },
    deleteTrigger: (trigger) => { book.triggers = book.triggers.filter(({ id }) => id !== trigger.id) },
  }),
  SpreadsheetApp: strict('SpreadsheetApp', {
    getUi: ui,
    flush: () => {},
    getActiveSpreadsheet: () => strict('Spreadsheet', {
      getSheetByName: (name) => (name in book.sheets ? sheetOf(name) : null),
      insertSheet: (name) => {
        if (name in book.sheets) throw new Error(`A sheet with the name "${name}" already exists`)
        book.sheets[name] = { rows: 1000, columns: 26, frozen: 0, cells: {}, formats: {} }
        return sheetOf(name)
      },
    }),
  }),
}

const script = new vm.Script(readFileSync(file, 'utf8'))

// runs a function of the script as Google does: each run reads the script again.
function runs(kind, name) {
  run = { ...run, kind, slept: 0, locked: false }
  const context = vm.createContext({ ...world })
  try {
    script.runInContext(context)
    if (typeof context[name] !== 'function') throw new Error(`Script function not found: ${name}`)
    context[name]()
  } catch (error) {
    done.errors.push(String(error))
  }
  if (run.locked) done.errors.push('the lock was not released')
  run = { ...run, kind: 'none', busy: false, dies: '' }
}

for (const action of actions) {
  const [verb, ...rest] = action.split(':')
  const what = rest.join(':')
  if (verb === 'open') runs('open', 'onOpen')
  else if (verb === 'menu' && menu.items?.[what]) runs('menu', menu.items[what])
  else if (verb === 'morning') book.triggers.forEach(({ handler }) => runs('time', handler))
  else if (verb === 'prompt') run.prompts.push(what)
  else if (verb === 'busy') run.busy = true
  else if (verb === 'die') run.dies = what
  else done.errors.push(`there is no ${action} in ${JSON.stringify(menu)}`)
}
writeFileSync(bookFile, JSON.stringify(book))

// shown are the rows of a sheet up to its last cell with content.
function shown({ cells }) {
  const rows = []
  for (const [at, value] of Object.entries(cells)) {
    const [row, column] = at.split(',').map(Number)
    ;(rows[row - 1] ??= [])[column - 1] = value
  }
  return Array.from(rows, (row) => Array.from(row ?? [], (value) => value ?? ''))
}
const sheets = Object.fromEntries(Object.entries(book.sheets).map(([name, s]) => [name, { rows: shown(s), frozen: s.frozen }]))
console.log(JSON.stringify({ sheets, triggers: book.triggers, properties: book.properties, ...done }))
