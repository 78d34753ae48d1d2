// Evaluates a query of Power Query: node m.mjs QUERY. Microsoft's parser reads it;
// what follows evaluates as much of the language M and of its library as the
// recipes use, lazily, as M does. An unknown function, option or type, and a value
// that cannot be converted, is an error. The table is printed as JSON: the names
// and types of its columns, its rows, and the requests that it took.
import { readFileSync } from 'node:fs'
import PQP from '@microsoft/powerquery-parser'

const requests = []

const fail = (message) => { throw new Error(message) }
const check = (holds, message) => holds || fail(message)

// type is what a value of M is called in messages.
function type(value) {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'list'
  return { string: 'text', number: 'number', boolean: 'logical', function: 'function' }[typeof value] ?? value.is
}

// want returns a value of a type.
const want = (value, ...types) => { check(types.includes(type(value)), `We cannot convert a value of type ${type(value)} to type ${types.join(' or ')}`); return value }

// A record's fields are evaluated when they are read.
const record = (fields) => ({ is: 'record', fields })
function fieldOf(of, name) {
  want(of, 'record')
  check(name in of.fields, `The field '${name}' of the record wasn't found`)
  return of.fields[name]()
}
const entries = (of) => all(Object.keys(want(of, 'record').fields), async (name) => [name, await fieldOf(of, name)])

function options(of, known, what) {
  for (const name of Object.keys(want(of, 'record').fields)) check(known.includes(name), `'${name}' isn't a valid ${what} option`)
  return of
}

const ofType = (name) => ({ is: 'type', name })

async function webContents(server, settings) {
  options(settings, ['RelativePath', 'Query', 'Headers'], 'Web.Contents')
  const query = new URLSearchParams()
  if ('Query' in settings.fields) for (const [name, value] of await entries(await fieldOf(settings, 'Query'))) query.append(name, want(value, 'text'))
  const headers = 'Headers' in settings.fields ? Object.fromEntries((await entries(await fieldOf(settings, 'Headers'))).map(([name, value]) => [name, want(value, 'text')])) : {}
  const address = `${want(server, 'text')}/${want(await fieldOf(settings, 'RelativePath'), 'text')}${query.size ? `?${query}` : ''}`
  for (let tries = 0; ; tries++) {
    const answer = await fetch(address, { headers })
    requests.push({ path: address.slice(server.length), status: answer.status })
    if ([429, 503].includes(answer.status) && tries < 3) await new Promise((next) => setTimeout(next, 1000 * Number(answer.headers.get('Retry-After'))))
    else if (!answer.ok) fail(`DataSource.Error: ${address}: ${answer.status} ${await answer.text()}`)
    else return { is: 'binary', bytes: Buffer.from(await answer.arrayBuffer()) }
  }
}

async function csvDocument(binary, settings) {
  options(settings, ['Delimiter', 'Encoding', 'QuoteStyle'], 'Csv.Document')
  check(JSON.stringify(await entries(settings)) === '[["Delimiter",","],["Encoding",65001],["QuoteStyle",1]]', 'only CSV of commas, UTF-8 and quotes is read here')
  const rows = []
  const cell = /("(?:[^"]|"")*"|[^,\r\n]*)(,|\r?\n|$)/y
  const text = want(binary, 'binary').bytes.toString('utf8')
  for (let open = false; cell.lastIndex < text.length;) {
    const [, value, end] = cell.exec(text)
    if (!open) rows.push([])
    rows.at(-1).push(value.startsWith('"') ? value.slice(1, -1).replaceAll('""', '"') : value)
    open = end === ','
  }
  const width = Math.max(...rows.map((row) => row.length))
  return tableOf(Array.from({ length: width }, (_, i) => [`Column${i + 1}`, 'text']), rows.map((row) => Array.from({ length: width }, (_, i) => row[i] ?? '')))
}

const tableOf = (columns, rows) => ({ is: 'table', columns, rows })

function columnOf(table, name) {
  const at = want(table, 'table').columns.findIndex(([each]) => each === name)
  check(at >= 0, `The column '${name}' of the table wasn't found`)
  return at
}

// Texts as values of a type, in the culture en-US. What is shown of a value is
// its kind with its digits.
const CONVERTED = {
  text: (text) => text,
  number: (text) => (/^-?\d+(\.\d+)?$/.test(text) ? Number(text) : null),
  'Int64.Type': (text) => (/^-?\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : null),
  'Currency.Type': (text) => (/^-?\d{1,15}(\.\d{1,4})?$/.test(text) ? { currency: text } : null),
  date: (text) => (/^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) ? { date: text } : null),
  datetimezone: (text) => (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(text) ? { time: text } : null),
}

function transformColumnTypes(table, changes, culture) {
  check(culture === 'en-US', 'the culture is not en-US')
  const { columns, rows } = want(table, 'table')
  const types = columns.map(() => null)
  for (const change of want(changes, 'list')) {
    check(want(change, 'list').length === 2, 'a change is a name and a type')
    types[columnOf(table, want(change[0], 'text'))] = want(change[1], 'type').name
  }
  const converted = (value, name, column) => {
    if (value === null) return null
    const found = (CONVERTED[name] ?? fail(`there is no conversion to ${name}`))(want(value, 'text'))
    return found ?? fail(`DataFormat.Error: We couldn't convert '${value}' of ${column} to ${name}`)
  }
  return tableOf(columns.map(([name, now], i) => [name, types[i] ?? now]),
    rows.map((row) => row.map((value, i) => (types[i] ? converted(value, types[i], columns[i][0]) : value))))
}

const LIBRARY = {
  'Web.Contents': webContents,
  'Csv.Document': csvDocument,
  'QuoteStyle.Csv': 1,
  'Int64.Type': ofType('Int64.Type'),
  'Currency.Type': ofType('Currency.Type'),
  'Replacer.ReplaceValue': (value, old, now) => (value === old ? now : value),
  'Table.PromoteHeaders': (table, settings) => {
    options(settings, ['PromoteAllScalars'], 'Table.PromoteHeaders')
    const [names, ...rows] = want(table, 'table').rows
    check(new Set(names).size === names.length, 'two columns have one name')
    return tableOf(names.map((name) => [name, 'any']), rows)
  },
  'Table.ColumnNames': (table) => want(table, 'table').columns.map(([name]) => name),
  'Table.RowCount': (table) => want(table, 'table').rows.length,
  'Table.Combine': (tables) => {
    const [first, ...others] = want(tables, 'list')
    for (const table of others) check(JSON.stringify(table.columns) === JSON.stringify(first.columns), 'the pages have other columns')
    return tableOf(first.columns, tables.flatMap(({ rows }) => rows))
  },
  'Table.ReplaceValue': async (table, old, now, replacer, names) => {
    const at = want(names, 'list').map((name) => columnOf(table, name))
    want(replacer, 'function')
    return tableOf(table.columns, await all(table.rows, (row) => all(row, (value, i) => (at.includes(i) ? replacer(value, old, now) : value))))
  },
  'Table.TransformColumnTypes': transformColumnTypes,
  'List.Contains': (list, value) => want(list, 'list').includes(value),
  'List.Last': (list) => want(list, 'list').at(-1) ?? null,
  'List.Transform': (list, change) => all(want(list, 'list'), (value) => want(change, 'function')(value)),
  'List.Generate': async (initial, condition, next, selector) => {
    const found = []
    for (let state = await initial(); want(await condition(state), 'logical'); state = await next(state)) found.push(await selector(state))
    return found
  },
  'Text.Split': (text, separator) => want(text, 'text').split(want(separator, 'text')),
  'Text.Replace': (text, old, now) => want(text, 'text').replaceAll(want(old, 'text'), want(now, 'text')),
  'Text.StartsWith': (text, start) => want(text, 'text').startsWith(want(start, 'text')),
  'Text.From': (value) => String(want(value, 'number', 'text')),
}

async function all(list, each) {
  const found = []
  for (const [i, value] of list.entries()) found.push(await each(value, i))
  return found
}

// later evaluates a node once, when its value is needed.
function later(node, scope) {
  let value
  return () => (value ??= evaluate(node, scope))
}

const listed = (wrapper) => wrapper.elements.map(({ node }) => node)

const textOf = (literal) => literal.slice(1, -1).replaceAll('""', '"').replaceAll('#(#)', '#')

const nameOf = (key) => (key.literal.startsWith('#"') ? textOf(key.literal.slice(1)) : key.literal)

function scoped(pairs, scope) {
  const inner = Object.create(scope)
  for (const pair of pairs) inner[pair.key.literal] = later(pair.value, inner)
  return inner
}

const NODES = {
  LetExpression: (node, scope) => evaluate(node.expression, scoped(listed(node.variableList), scope)),
  IdentifierExpression: (node, scope) => {
    const name = node.identifier.literal
    if (scope[name]) return scope[name]()
    return name in LIBRARY ? LIBRARY[name] : fail(`Expression.Error: The name '${name}' wasn't recognized`)
  },
  LiteralExpression: ({ literal, literalKind }) => ({ Text: textOf, Numeric: Number, Null: () => null, Logical: (text) => text === 'true' })[literalKind](literal),
  ListExpression: async (node, scope) => all(listed(node.content), (each) => evaluate(each, scope)),
  RecordExpression: (node, scope) => record(Object.fromEntries(listed(node.content).map(({ key, value }) => [nameOf(key), later(value, scope)]))),
  ParenthesizedExpression: (node, scope) => evaluate(node.content, scope),
  IfExpression: async (node, scope) => evaluate(want(await evaluate(node.condition, scope), 'logical') ? node.trueExpression : node.falseExpression, scope),
  ErrorRaisingExpression: async (node, scope) => fail(`Expression.Error: ${want(await evaluate(node.paired, scope), 'text')}`),
  TypePrimaryType: (node) => ofType(node.paired.primitiveTypeKind),
  EachExpression: (node, scope) => (value) => evaluate(node.paired, Object.assign(Object.create(scope), { _: () => value })),
  FunctionExpression: (node, scope) => {
    const names = listed(node.parameters.content).map(({ name }) => name.literal)
    return (...values) => {
      check(values.length === names.length, `${values.length} arguments were passed to a function which expects ${names.length}`)
      return evaluate(node.expression, Object.assign(Object.create(scope), Object.fromEntries(names.map((name, i) => [name, () => values[i]]))))
    }
  },
  FieldSelector: async (node, scope) => fieldOf(await evaluate({ kind: 'IdentifierExpression', identifier: { literal: '_' } }, scope), node.content.literal),
  RecursivePrimaryExpression: async (node, scope) => {
    let value = await evaluate(node.head, scope)
    for (const part of node.recursiveExpressions.elements) {
      check(part.kind === 'InvokeExpression', `${part.kind} is not known here`)
      value = await want(value, 'function')(...await all(listed(part.content), (each) => evaluate(each, scope)))
    }
    return value
  },
}

for (const kind of ['LogicalExpression', 'EqualityExpression', 'RelationalExpression', 'ArithmeticExpression']) {
  NODES[kind] = async (node, scope) => {
    const operator = node.operatorConstant.constantKind
    const left = await evaluate(node.left, scope)
    if (operator === 'or' || operator === 'and') return want(left, 'logical') === (operator === 'or') ? left : want(await evaluate(node.right, scope), 'logical')
    const right = await evaluate(node.right, scope)
    const both = (kind) => [want(left, kind), want(right, kind)]
    const known = { '&': () => both('text').join(''), '+': () => both('number').reduce((a, b) => a + b), '=': () => left === right, '>': () => both('number').reduce((a, b) => a > b) }
    return (known[operator] ?? fail(`the operator ${operator} is not known here`))()
  }
}

async function evaluate(node, scope) {
  return (NODES[node.kind] ?? fail(`${node.kind} is not known here`))(node, scope)
}

const read = await PQP.TaskUtils.tryLexParse(PQP.DefaultSettings, readFileSync(process.argv[2], 'utf8'))
check(read.ast && read.resultKind === 'Ok', `it does not parse: ${read.error?.message}`)
const { columns, rows } = want(await evaluate(read.ast, Object.create(null)), 'table')
console.log(JSON.stringify({ columns, rows, requests }))
