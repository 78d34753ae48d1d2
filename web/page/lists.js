// The views without figures: campaigns, ad groups, rules, their runs, activity.

import { el, labelled, select } from './dom.js'
import { adType, amount, count, day, orNone, time, words } from './figures.js'
import { FILTERS, ownLink, searchField, sides } from './report.js'
import { emptyOf, pages, table } from './tables.js'

const section = (title, ...children) => el('section', { class: 'card', 'aria-label': title }, ...children)

const name = (cell, label) => ({ label, head: true, cell })
const plain = (label, cell) => ({ label, cell })
const whole = (label, cell) => ({ label, cell, looks: 'whole' }) // on one line
const number = (label, cell) => ({ label, numeric: true, cell })

const badge = (text, looks = '') => el('span', { class: `badge ${looks}` }, text)
const id = (text) => el('span', { class: 'id' }, text)

// unfiltered are all filters, removed: a list has none of them.
const unfiltered = Object.fromEntries([...FILTERS, 'marketplaces', 'ad_products'].map((filter) => [filter, '']))

// marketplaceOf is the choice of the one marketplace whose list is shown.
function marketplaceOf(state, { go, marketplaces, fixed }) {
  return !fixed && labelled('Marketplace', select('marketplace', marketplaces.map((m) => [m.marketplace_id, `${m.country_code} · ${m.name} (${m.marketplace_id})`]),
    state.marketplace_id, (id) => go({ marketplace_id: id, campaign_id: '' })))
}

function syncing(meta) {
  if (meta.syncing) return el('p', { class: 'notice', role: 'status' }, 'The list is being read from the platform. The page asks again in a minute.')
  return el('p', { class: 'muted' }, meta.synced_at ? `As of ${time(meta.synced_at)}` : 'No list was read from the platform yet.')
}

// listed is a list of one marketplace, below what narrows it. one is a row's name.
function listed(one, answer, columns, state, tools, choice, narrowed) {
  const title = `${one}s`
  return [section(title, sides(state, tools), answer ? [
    el('div', { class: 'row' }, marketplaceOf(state, tools), choice), !tools.fixed && searchField({ search: `${one} name` }, state, tools.go), narrowed, syncing(answer.meta),
    table({ caption: title, columns, rows: answer.data, empty: emptyOf(answer.pagination, state, `No ${one.toLowerCase()} is listed.`) }), pages(answer.pagination, state, tools.go, title.toLowerCase()),
  ] : el('p', { class: 'empty' }, 'The account has no marketplace.'))]
}

export function drawCampaigns(state, { campaigns }, tools) {
  const choice = !tools.fixed && labelled('State', select('states', [['', 'Enabled and paused'], ['ENABLED', 'Enabled'], ['PAUSED', 'Paused']], state.states, (states) => tools.go({ states })))
  const columns = [
    name((row) => [ownLink('campaign-figures', row, tools, unfiltered), id(row.campaign_id)], 'Campaign'),
    plain('Ad type', (row) => adType(row.ad_product)),
    plain('State', (row) => badge(words(row.state), row.state.toLowerCase())),
    plain('Targeting', (row) => orNone(row.targeting, words)),
    number('Budget', (row) => [amount(row.budget.amount, row.budget.currency_code), row.budget.type && id(words(row.budget.type))]),
    plain('By this service', (row) => words(row.provenance)),
    whole('Runs', (row) => `${day(row.start_date)} to ${row.end_date === null ? 'open end' : day(row.end_date)}`),
    !tools.fixed && whole('Ad groups', (row) => el('a', { href: tools.link({ view: 'ad-groups', campaign_id: row.campaign_id, page: '1' }), 'aria-label': `Ad groups of ${row.name}` }, 'Ad groups')),
  ].filter(Boolean)
  return listed('Campaign', campaigns, columns, state, tools, choice)
}

// drawAdGroups shows one marketplace's ad groups, or those of one campaign.
export function drawAdGroups(state, answers, tools) {
  const columns = [
    name((row) => [ownLink('ad-group-figures', row, tools, unfiltered), id(row.ad_group_id)], 'Ad group'),
    plain('Campaign', (row) => id(row.campaign_id)),
    plain('Ad type', (row) => adType(row.ad_product)),
    plain('State', (row) => badge(words(row.state), row.state.toLowerCase())),
    number('Default bid', (row) => orNone(row.default_bid, (bid) => amount(bid.amount, bid.currency_code))),
  ]
  const narrowed = state.campaign_id && el('p', {}, `Of campaign ${state.campaign_id} alone. `, !tools.fixed && el('a', { href: tools.link({ campaign_id: '', page: '1' }) }, 'Show all ad groups'))
  return listed('Ad group', answers['ad-groups'], columns, state, tools, null, narrowed)
}

const schedule = ({ frequency, time: at, timezone }) => [orNone(frequency, words), at && ` at ${at}`, timezone && id(timezone)].filter(Boolean)

const runsOf = ({ rule_id }, what, link) => el('a', { href: link({ view: 'runs', rule_id }), 'aria-label': `Runs of ${what}` }, 'Runs')

export function drawRules(state, { rules }, { link, fixed }) {
  const columns = [
    name((row) => [el('span', {}, row.name), id(row.rule_id)], 'Rule'),
    plain('Status', (row) => badge(words(row.status), row.status)),
    whole('Acts in', (row) => [row.scope.marketplaces?.join(', ') ?? 'All marketplaces', id(row.scope.campaign_ids === null ? 'all campaigns' : `${count(row.scope.campaign_ids.length)} campaigns`)]),
    whole('Schedule', (row) => schedule(row.schedule)),
    whole('Last run', (row) => (row.last_run === null ? 'Never' : [time(row.last_run.started_at), id(words(row.last_run.status))])),
    number('Changed', (row) => count(row.last_run?.changed)),
    whole('Edited', (row) => time(row.edited_at)),
    !fixed && whole('Runs', (row) => runsOf(row, row.name, link)),
  ].filter(Boolean)
  return [section('Rules', table({ caption: 'Rules', columns, rows: rules.data, empty: 'The account has no rules.' }))]
}

// drawRuns shows the last runs of a rule, each with what it changed.
export function drawRuns(state, { runs }, { link, fixed }) {
  return [section('Runs of the rule', el('p', {}, id(state.rule_id), ' ', !fixed && el('a', { href: link({ view: 'rules' }) }, 'All rules')),
    runs.data.length ? runs.data.map(run) : el('p', { class: 'empty' }, 'The rule has not run yet.'))]
}

function run(row) {
  const looked = Object.entries(row.looked_at).map(([what, n]) => `${count(n)} ${words(what).toLowerCase()}`).join(', ')
  const columns = [
    name((c) => [el('span', {}, c.entity_name ?? c.entity_id), id(c.entity_id)], 'What'),
    plain('Kind', (c) => words(c.entity_type)), plain('Marketplace', (c) => c.marketplace), plain('Field', (c) => words(c.field)),
    number('From', (c) => text(c.from)), number('To', (c) => text(c.to)), plain('Why', (c) => text(c.reason)),
  ]
  return el('details', { class: 'run' },
    el('summary', {}, el('span', { class: 'when' }, time(row.started_at)), badge(words(row.status), row.status), ` ${row.marketplaces.join(', ')}: changed ${count(row.changed)}`),
    el('p', { class: 'muted' }, `Looked at ${looked}. Ended ${time(row.finished_at)}.`),
    table({ caption: `Changes of the run of ${time(row.started_at)}`, columns, rows: row.changes, empty: 'It changed nothing.' }))
}

const text = (value) => orNone(value, () => (typeof value === 'object' ? JSON.stringify(value) : String(value)))

// written: choices, from the catalogue, by go test ./internal/catalogue -update
const TOOLS = ['rule', 'campaign_create', 'campaign_copy', 'product_add', 'undo']
// end of choices

export function drawActivity(state, { activity }, { go, link, fixed }) {
  const tool = !fixed && labelled('Operation', select('tool', [['', 'All'], ...TOOLS.map((tool) => [tool, words(tool)])], state.tool, (chosen) => go({ tool: chosen })))
  const columns = [
    whole('When', (row) => el('time', { datetime: row.occurred_at }, time(row.occurred_at))),
    plain('Operation', (row) => words(row.tool)),
    plain('Marketplace', (row) => row.marketplace),
    name((row) => row.summary, 'What happened'),
    plain('Status', (row) => badge(words(row.status), row.status)),
    number('Changed', (row) => count(row.changed)),
    !fixed && plain('Rule', (row) => (row.rule_id === null ? '–' : runsOf(row, `the rule that made this change: ${row.summary}`, link))),
  ].filter(Boolean)
  return [section('Activity', el('div', { class: 'row' }, tool),
    table({ caption: 'Activity', columns, rows: activity.data, empty: emptyOf(activity.pagination, state, 'Nothing was done on the platform yet.') }), pages(activity.pagination, state, go, 'operations'))]
}

// drawApps shows the assistants that may read the account. Each can be ended, in
// two steps, because only its operator can connect one.
export function drawApps(state, { apps }, { account, endApp }) {
  const columns = [
    name((row) => [el('span', {}, row.name), id(row.app_id)], 'Assistant'),
    whole('Connected', (row) => time(row.connected_at)),
    whole('Last used', (row) => (row.last_used_at === null ? 'Never' : time(row.last_used_at))),
    plain('Answers go to', (row) => id(row.redirect_uri)),
    whole('Ends by itself', (row) => time(row.expires_at)),
    plain('End', (row) => el('details', {},
      el('summary', { 'aria-label': `End the connection of ${row.name}` }, 'End …'),
      el('button', { class: 'plain', onclick: () => endApp(row) }, 'End it for good'))),
  ]
  return [section('Assistants',
    el('p', {}, 'These assistants can read the account, and change nothing. The operator of this server invites others: ', el('code', {}, 'adlens app invite --account ID')),
    table({ caption: 'Assistants', columns, rows: apps.data, empty: account.api_key.marketplaces ? 'Only a key for all marketplaces shows assistants.' : 'No assistant is connected.' }))]
}
