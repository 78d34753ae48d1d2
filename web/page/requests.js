// The requests behind each view: what the page asks for is what it offers to
// spreadsheets and scripts.

import { figureNamed, FIGURES, words } from './figures.js'
import { dimensionsOf, FILTERS, REPORTS } from './report.js'
import { BUCKETS } from './slots.js'
import { isStackable } from './stack.js'

const request = (name, title, path, params) => ({ name, title, path, params: params.filter(([, value]) => value !== '') })

function period(state) {
  const days = state.start_date || state.end_date ? [['start_date', state.start_date], ['end_date', state.end_date]] : [['range', state.range]]
  return [...days, unless('UTC', 'timezone', state), ['marketplaces', state.marketplaces], ['ad_products', state.ad_products], ...FILTERS.map((filter) => [filter, state[filter]]), unless('none', 'compare', state), unless('USD', 'currency', state)]
}

// unless leaves a parameter out that says what is so anyway.
const unless = (usual, name, state) => [name, state[name] === usual ? '' : state[name]]

const paging = (state) => [['page', state.page], ['page_size', state.page_size]]

const rows = (state) => [['order', state.order], ...paging(state)]

function report(state) {
  const { title, id } = REPORTS[state.view]
  const dimensions = dimensionsOf(state)
  return [request('report', state.search ? `${title} found` : title, '/api/v1/report', [['dimensions', dimensions.join()], ['figures', state.figures], ['search', state.search],
    ...period(state), ['sort', state.sort === id ? dimensions[0] : sortable(state)], ...rows(state)])]
}

// sortable is the column that rows are sorted by, unless it is a figure that is
// not shown: then the server chooses.
function sortable({ sort, figures }) {
  const left = figures && figureNamed(sort).name === sort && !figures.split(',').includes(sort)
  return left ? '' : sort
}

// timeline is that of the API, but for days, of which it answers 92: the report by
// date has no such limit.
function timeline(state) {
  if (state.granularity !== 'day') return request('timeline', 'Timeline', '/api/v1/timeline', [...period(state), unless('auto', 'granularity', state)])
  return request('timeline', 'Timeline', '/api/v1/report', [['dimensions', BUCKETS.day.dimension], ...period(state), ['page_size', 'all']])
}

// parts are what the figures of the timeline are made of, in its days, weeks or
// months: where the server chooses them, its answer is needed first.
function parts(state) {
  if (!state.stack || !isStackable(figureNamed(state.measure))) return []
  const by = (granularity) => request('parts', `Timeline by ${words(state.stack).toLowerCase()}`, '/api/v1/report', [['dimensions', `${BUCKETS[granularity]?.dimension},${state.stack}`],
    ['figures', FIGURES.filter(isStackable).map(({ name }) => name).join()], ...period(state), ['page_size', 'all']])
  return [{ ...by(state.granularity), after: state.granularity === 'auto' && (({ timeline: { granularity } }) => by(granularity)) }]
}

// list is that of one marketplace, if there is one; own is its own filter.
const list = (title, own, { view, marketplace_id: id, ...state }) => (id
  ? [request(view, title, `/api/v1/${view}`, [['marketplace_id', id], [own, state[own]], ['search', state.search], ...paging(state)])]
  : [])

const behind = {
  overview: (state) => [request('summary', 'Totals, by marketplace and ad type', '/api/v1/summary', period(state)), timeline(state), ...parts(state)],
  products: (state) => {
    if (state.search || state.figures || state.currency === 'local') return report(state)
    return [request('report', 'Products', '/api/v1/reports/products', [...period(state), ['sort', state.sort], ...rows(state)])]
  },
  'campaign-figures': report,
  'ad-group-figures': report,
  campaigns: (state) => list('Campaigns', 'states', state),
  'ad-groups': (state) => list('Ad groups', 'campaign_id', state),
  rules: () => [request('rules', 'Rules', '/api/v1/rules', [['page_size', 'all']])],
  runs: (state) => [request('runs', 'Runs of the rule', `/api/v1/rules/${encodeURIComponent(state.rule_id)}/runs`, [])],
  activity: (state) => [request('activity', 'Activity', '/api/v1/activity', [['tool', state.tool], ...paging(state)])],
  apps: () => [request('apps', 'Assistants', '/apps', [])],
}

// DISPENSABLE are the parameters that a view can do without, in words.
export const DISPENSABLE = { compare: 'a comparison', currency: "the marketplaces' own currency", figures: 'these columns', sort: 'this order', campaign_id: 'this campaign' }

// remaining is what errors leave of a parameter: of the columns the others stay.
export function remaining(errors, name, value) {
  const refused = (of) => errors.some((fault) => fault.parameter === name && (of === undefined || fault.value === of))
  return name === 'figures' ? value.split(',').filter((figure) => !refused(figure)).join() : refused() ? '' : value
}

// without is a request without what an error refuses, as it is where there is
// more that is wrong.
export function without(request, { status, errors }) {
  if (status !== 400 || !errors.every(({ parameter }) => DISPENSABLE[parameter])) return request
  const plain = (of) => ({ ...of, params: of.params.map(([name, value]) => [name, remaining(errors, name, value)]).filter(([, value]) => value !== '') })
  return { ...plain(request), after: request.after && ((answers) => plain(request.after(answers))) }
}

// The most rows that answers have at once.
const most = { report: 'all', rules: 'all', activity: 'all', campaigns: '1000', 'ad-groups': '1000' }

// whole is a request for all rows at once, where its answers have pages: what is
// taken elsewhere is never a page alone.
export function whole(request) {
  const { name, params } = request
  if (!most[name]) return request
  return { ...request, params: [...params.filter(([parameter]) => !['page', 'page_size'].includes(parameter)), ['page_size', most[name]]] }
}

// ofApi are the requests that other tools can send too: those of the public API.
export const ofApi = (requests) => requests.filter(({ path }) => path.startsWith('/api/'))

export const requestsOf = (state) => behind[state.view](state)
