// Runs a workflow of n8n from its trigger, once for each line on standard input,
// and says on standard output what came of it: node run.mjs WORKFLOW TABLES SECRET. n8n's own engine and nodes run it, with real requests. Of the server
// around them there is what they call: credentials (header auth with SECRET) and
// data tables, which are read from the file TABLES and written to it, and which
// refuse what n8n's refuse: unknown tables, columns and conditions.
import { createRequire } from 'node:module'
import { readFileSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const require = createRequire(import.meta.url)
const { ExecutionLifecycleHooks, WorkflowExecute } = require('n8n-core')
const { Workflow } = require('n8n-workflow')

const [workflowFile, tablesFile, secret] = process.argv.slice(2)
const saved = JSON.parse(readFileSync(workflowFile, 'utf8'))
const tables = JSON.parse(readFileSync(tablesFile, 'utf8'))

const FILES = {
  scheduleTrigger: 'Schedule/ScheduleTrigger', dataTable: 'DataTable/DataTable', httpRequest: 'HttpRequest/HttpRequest', set: 'Set/Set', splitOut: 'Transform/SplitOut/SplitOut',
  if: 'If/If', filter: 'Filter/Filter', stopAndError: 'StopAndError/StopAndError',
}
const types = new Map()

function nodeType(name) {
  const short = name.replace('n8n-nodes-base.', '')
  if (!types.has(short)) {
    const [made] = Object.values(require(`n8n-nodes-base/dist/nodes/${FILES[short] ?? `${short}/unknown`}.node.js`))
    types.set(short, new made())
  }
  return types.get(short)
}

const nodeTypes = {
  getByName: nodeType,
  getByNameAndVersion: (name, version) => {
    const type = nodeType(name)
    return type.nodeVersions ? type.getNodeType(version) : type
  },
  getKnownTypes: () => ({}),
}

const { HttpHeaderAuth } = require('n8n-nodes-base/dist/credentials/HttpHeaderAuth.credentials.js')

const credentialsHelper = {
  getParentTypes: () => [],
  getDecrypted: async (_, of, type) => {
    if (type !== 'httpHeaderAuth' || of.name !== 'adlens') throw new Error(`there are no credentials ${of.name} of type ${type}`)
    return { name: 'Authorization', value: `Bearer ${secret}` }
  },
  authenticate: async ({ name, value }, type, request) => {
    if (new HttpHeaderAuth().name !== type) throw new Error(`${type} is unknown`)
    return { ...request, headers: { ...request.headers, [name]: value } }
  },
  preAuthentication: async () => undefined,
  isCredentialUsableByNode: () => true,
  getCredentialsProperties: () => new HttpHeaderAuth().properties,
}

const HOLDS = {
  eq: (a, b) => a === b, neq: (a, b) => a !== b, gt: (a, b) => a > b, gte: (a, b) => a >= b, lt: (a, b) => a < b, lte: (a, b) => a <= b,
}

// tableOf is a data table. Rows have the values of its columns, by their types.
function tableOf(name) {
  const table = tables[name] ?? fail(`there is no data table ${name}`)
  const matches = ({ type, filters }) => (row) => filters[type === 'and' ? 'every' : 'some'](({ columnName, condition, value }) => {
    if (!(columnName in table.columns)) fail(`${name} has no column ${columnName}`)
    return (HOLDS[condition] ?? fail(`there is no condition ${condition}`))(row[columnName], value)
  })
  return {
    getColumns: async () => Object.entries(table.columns).map(([column, type], index) => ({ id: column, name: column, type, index })),
    getManyRowsAndCount: async ({ filter, skip = 0, take = table.rows.length }) => {
      const found = filter?.filters?.length ? table.rows.filter(matches(filter)) : table.rows
      return { count: found.length, data: found.slice(skip, skip + take) }
    },
    insertRows: async (rows, returned) => {
      for (const row of rows) {
        for (const [column, value] of Object.entries(row)) {
          const type = table.columns[column] ?? fail(`unknown column name '${column}'`)
          if (value !== null && typeof value !== type) fail(`value '${value}' does not match column type '${type}'`)
        }
        table.rows.push(row)
      }
      return returned === 'count' ? { success: true, insertedRows: rows.length } : rows
    },
    deleteRows: async ({ filter, dryRun }) => {
      if (dryRun) fail('a dry run deletes nothing')
      const gone = table.rows.filter(matches(filter))
      table.rows = table.rows.filter((row) => !gone.includes(row))
      return gone
    },
  }
}

function fail(message) { throw new Error(message) }

async function runOnce() {
  const workflow = new Workflow({ id: '1', name: saved.name, nodes: saved.nodes, connections: saved.connections, active: false, nodeTypes, settings: { ...saved.settings, timezone: 'UTC' } })
  const hooks = new ExecutionLifecycleHooks('trigger', '1', { ...saved, id: '1', active: false, createdAt: new Date(), updatedAt: new Date() })
  const additionalData = {
    credentialsHelper, hooks, executionId: '1', currentNodeExecutionIndex: 0, variables: {}, ...Object.fromEntries(['restApiUrl', 'instanceBaseUrl', 'webhookBaseUrl', 'webhookWaitingBaseUrl', 'formBaseUrl', 'formWaitingBaseUrl'].map((name) => [name, 'http://127.0.0.1:5678'])),
    'data-table': { dataTableProxyProvider: {
      getDataTableProxy: async (_, __, id) => tableOf(id),
      getDataTableAggregateProxy: async () => ({ getManyAndCount: async ({ filter }) => {
        const found = Object.keys(tables).filter((name) => name === filter.name)
        return { count: found.length, data: found.map((name) => ({ id: name, name })) }
      } }),
    } },
  }
  const start = workflow.getStartNode() ?? saved.nodes.map(({ name }) => workflow.getNode(name)).find(({ type }) => /Trigger$/.test(type))
  const done = await new WorkflowExecute(additionalData, 'trigger').run({ workflow, startNode: start, triggerToStartFrom: undefined })
  writeFileSync(tablesFile, JSON.stringify(tables))
  const { error, runData } = done.data.resultData
  console.log(JSON.stringify({ status: done.status, error: error && `${error.node?.name}: ${error.message}: ${error.description ?? ''}`, ran: Object.keys(runData) }))
}

for await (const _ of createInterface({ input: process.stdin })) await runOnce()
process.exit(0) // n8n leaves timers behind
