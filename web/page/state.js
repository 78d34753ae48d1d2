// What the page shows, as its fragment says: #/products?range=last_7_days&page=2.
// So it can be bookmarked, and Back works. The key is never part of it.

import { STACKS } from './stack.js'

// SHARED are the names that stay when another view is chosen.
const SHARED = { range: 'last_30_days', start_date: '', end_date: '', timezone: 'UTC', marketplaces: '', ad_products: '', campaign_ids: '', ad_group_ids: '', product_ids: '', compare: 'none', currency: 'USD', figures: '' }

const REPORT = { search: '', sort: 'spend', order: 'desc', page: '1', page_size: '25' }

// OWN are the names of each view.
const OWN = {
  overview: { measure: 'spend', second: '', stack: '', granularity: 'auto' },
  products: REPORT,
  'campaign-figures': REPORT,
  'ad-group-figures': REPORT,
  campaigns: { marketplace_id: '', states: '', search: '', page: '1', page_size: '50' },
  'ad-groups': { marketplace_id: '', campaign_id: '', search: '', page: '1', page_size: '50' },
  rules: {},
  runs: { rule_id: '' },
  activity: { tool: '', page: '1', page_size: '50' },
  apps: {},
}

// read makes a state of a fragment. What it does not know is left out, and the
// server judges the values.
export function read(fragment) {
  const [path, query = ''] = fragment.replace(/^#\/?/, '').split('?', 2)
  const view = Object.hasOwn(OWN, path) ? path : 'overview'
  const state = { view, ...SHARED, ...OWN[view] }
  for (const [name, value] of new URLSearchParams(query)) {
    if (name in state && name !== 'view') state[name] = value
  }
  if (state.start_date || state.end_date) state.range = ''
  if (state.stack && !Object.hasOwn(STACKS, state.stack)) state.stack = ''
  return state
}

// write is the fragment of a state; what is as usual is left out.
export function write(state) {
  const usual = { ...SHARED, ...OWN[state.view] }
  const said = Object.entries(usual).filter(([name, value]) => state[name] !== undefined && state[name] !== value && state[name] !== '')
  const query = new URLSearchParams(said.map(([name]) => [name, state[name]]))
  return `#/${state.view}${said.length ? `?${query}` : ''}`
}

// changed is a state with some values replaced. Another question begins on its
// first page, and another view with its own names as usual.
export function changed(state, patch) {
  const stays = patch.view === undefined || patch.view === state.view ? Object.keys(state) : [...Object.keys(SHARED), 'marketplace_id']
  const next = { view: state.view, ...Object.fromEntries(stays.filter((name) => name in state).map((name) => [name, state[name]])), page: '1', ...patch }
  if (patch.range) Object.assign(next, { start_date: '', end_date: '' })
  if (patch.start_date) next.range = ''
  return read(write(next))
}
