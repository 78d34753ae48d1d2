// The requests behind each view: what the page asks for is what it offers to
// spreadsheets and scripts.

import { FIGURES } from './figures.js'
import { FILTERS, REPORTS } from './report.js'

const request = (name, title, path, params) => ({ name, title, path, params: params.filter(([, value]) => value !== '') })

function period(state) {
  const days = state.start_date || state.end_date ? [['start_date', state.start_date], ['end_date', state.end_date]] : [['range', state.range]]
  return [...days, unless('UTC', 'timezone', state), ['marketplaces', state.marketplaces], ['ad_products', state.ad_products], ...FILTERS.map((filter) => [filter, state[filter]]), unless('none', 'compare', state)]
}

// unless leaves a parameter out that says what is so anyway.
const unless = (usual, name, state) => [name, state[name] === usual ? '' : state[name]]

const paging = (state) => [['page', state.page], ['page_size', state.page_size]]

const rows = (state) => [['order', state.order], ...paging(state)]

function report(state) {
  const { title, id, dimensions } = REPORTS[state.view]
  return [request('report', state.search ? `${title} found` : title, '/api/v1/report', [['dimensions', dimensions.join()], ['figures', state.figures], ['search', state.search],
    ...period(state), ['sort', state.sort === id ? dimensions[0] : sortable(state)], ...rows(state)])]
}

// sortable is the column that rows are sorted by, unless it is a figure that is
// not shown: then the server chooses.
function sortable({ sort, figures }) {
  const left = figures && FIGURES.some(({ name }) => name === sort) && !figures.split(',').includes(sort)
  return left ? '' : sort
}

const behind = {
  overview: (state) => [
    request('summary', 'Totals, by marketplace and ad type', '/api/v1/summary', period(state)),
    request('timeline', 'Timeline', '/api/v1/timeline', [...period(state), unless('auto', 'granularity', state)]),
  ],
  products: (state) => {
    if (state.search || state.figures) return report(state)
    return [request('report', 'Products', '/api/v1/reports/products', [...period(state), ['sort', state.sort], ...rows(state)])]
  },
  'campaign-figures': report,
  'ad-group-figures': report,
  campaigns: (state) => (state.marketplace_id
    ? [request('campaigns', 'Campaigns', '/api/v1/campaigns', [['marketplace_id', state.marketplace_id], ['states', state.states], ...paging(state)])]
    : []),
  'ad-groups': (state) => (state.marketplace_id
    ? [request('ad-groups', 'Ad groups', '/api/v1/ad-groups', [['marketplace_id', state.marketplace_id], ['campaign_id', state.campaign_id], ...paging(state)])]
    : []),
  rules: () => [request('rules', 'Rules', '/api/v1/rules', [])],
  runs: (state) => [request('runs', 'Runs of the rule', `/api/v1/rules/${encodeURIComponent(state.rule_id)}/runs`, [])],
  activity: (state) => [request('activity', 'Activity', '/api/v1/activity', [['tool', state.tool], ...paging(state)])],
  apps: () => [request('apps', 'Assistants', '/apps', [])],
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

// requestsOf are the requests that show a state.
export const requestsOf = (state) => behind[state.view](state)
