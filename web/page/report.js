// The reports: products, campaigns and ad groups with their figures. Each row
// leads to its own figures and timeline, and to the other reports filtered by it.

import { el, hidden, labelled } from './dom.js'
import { emptyOf, figureColumns, pages, table, withShares } from './tables.js'

// REPORTS are the views whose rows are values of a dimension: the parameter that
// filters by such ids, the columns of id and label, the dimensions of the request (a
// second one describes rows, and splits those without an id), the search's label, the
// words for rows without an id, the reports that a row leads to, and the list of it.
export const REPORTS = {
  products: {
    title: 'Products', one: 'product', filter: 'product_ids', id: 'product_id', label: 'title', dimensions: ['product'], search: 'Product id or title',
    none: ['Not tied to a product', 'mostly Sponsored Brands'], leads: ['campaign-figures'],
  },
  'campaign-figures': {
    title: 'Campaigns', one: 'campaign', filter: 'campaign_ids', id: 'campaign_id', label: 'campaign_name', dimensions: ['campaign', 'marketplace'], search: 'Campaign name',
    none: ['Not tied to a campaign', 'of reports that do not name it'], leads: ['ad-group-figures', 'products'], list: 'campaigns',
  },
  'ad-group-figures': {
    title: 'Ad groups', one: 'ad group', filter: 'ad_group_ids', id: 'ad_group_id', label: 'ad_group_name', dimensions: ['ad_group', 'campaign'], search: 'Ad group or campaign name',
    none: ['Not tied to an ad group', 'of reports that do not name it'], leads: ['products'], list: 'ad-groups',
  },
}

// dimensionsOf are those of a view's request: amounts of several currencies have a
// row for each marketplace.
export function dimensionsOf({ view, currency }) {
  const { dimensions } = REPORTS[view]
  return currency === 'local' && !dimensions.includes('marketplace') ? [...dimensions, 'marketplace'] : dimensions
}

export const FILTERS = Object.values(REPORTS).map(({ filter }) => filter)

export function drawReport(state, { report }, tools) {
  const kind = REPORTS[state.view]
  const { sort: by, order } = report
  const sort = { by, order, choose: (name) => tools.go({ sort: name, order: name === by && order === 'desc' ? 'asc' : 'desc' }) }
  const first = {
    label: kind.title.slice(0, -1), head: true,
    cell: (row) => titled(state.view, row, tools), total: () => (state.search ? 'All that were found' : `All ${kind.title.toLowerCase()}`),
  }
  const columns = withShares([first, ...further(report, kind, tools), ...figureColumns(report)], report.data, (row) => row[kind.id] !== null && report.currency !== null)
  return [el('section', { class: 'card', 'aria-label': kind.title }, sides(state, tools), !tools.fixed && searchField(kind, state, tools.go),
    table({ caption: kind.title, columns, rows: report.data, total: report.totals, sort, empty: emptyOf(report.pagination, state, `No ${kind.one} has figures in this period.`) }),
    pages(report.pagination, state, tools.go, 'rows'))]
}

function further(report, kind, tools) {
  const said = {
    marketplaces: { label: 'Marketplaces', cell: (row) => row.marketplaces.join(', ') }, // of /reports/products alone
    marketplace: { label: 'Marketplace', sort: 'marketplace', cell: (row) => [row.marketplace, tools.nameOf(row.marketplace, row.marketplace_id)[1]] },
    campaign: { label: 'Campaign', looks: 'name', cell: (row) => (row.campaign_id === null ? REPORTS['campaign-figures'].none[0] : ownLink('campaign-figures', row, tools, { ad_group_ids: '' })) },
  }
  const names = report.dimensions?.filter((name) => name !== kind.dimensions[0]) ?? ['marketplaces']
  return names.map((name) => ({ ...said[name], total: () => null }))
}

// titled is the first cell of a row: the label leads to its own figures and
// timeline, the links below to the other reports filtered by it.
function titled(view, row, tools) {
  const kind = REPORTS[view]
  const id = row[kind.id]
  if (id === null) return [el('span', {}, kind.none[0]), el('span', { class: 'id' }, kind.none[1])]
  const label = row[kind.label]
  const leads = (tools.fixed ? [] : kind.leads).map((to) => el('a', { href: tools.link({ view: to, [kind.filter]: id, [REPORTS[to].filter]: '' }) },
    REPORTS[to].title, hidden(` of ${label ?? id}`)))
  const below = (label === null ? leads : [id, ...leads]).flatMap((part, i) => (i > 0 ? [' · ', part] : [part]))
  return [ownLink(view, row, tools), el('span', { class: 'id' }, below)]
}

// ownLink leads from one product, campaign or ad group to its own figures and
// timeline. Its label and its campaign's marketplace are kept, as the filter has only
// the id. In a fixed view nothing leads to another.
export function ownLink(view, row, { link, labels, homes, fixed }, rest = {}) {
  const kind = REPORTS[view]
  const id = row[kind.id]
  const label = row[kind.label] ?? row.name // of a list
  if (fixed) return el('span', {}, label ?? id)
  labels.set(id, label ?? '')
  if (row.marketplace_id) homes.set(row.campaign_id, row.marketplace_id)
  return el('a', { href: link({ view: 'overview', ...rest, [kind.filter]: id }) }, label ?? id)
}

// sides leads between the figures of campaigns or ad groups and the list of them. The
// list of one campaign has it as its own filter, once its marketplace was shown.
export function sides({ view, campaign_ids: of }, { link, homes, fixed }) {
  const both = !fixed && Object.entries(REPORTS).find(([figures, { list }]) => list && [figures, list].includes(view))
  if (!both) return null
  const [figures, { title, list }] = both
  const narrowed = view === figures && homes.has(of) && { marketplace_id: homes.get(of), campaign_id: of }
  return el('nav', { class: 'segments', 'aria-label': title },
    [[figures, 'Figures'], [list, 'States and settings']].map(([to, text]) => el('a', { href: link({ view: to, ...narrowed }), 'data-keep': `side-${to}`, 'aria-current': to === view && 'page' }, text)))
}

export function searchField(kind, state, go) {
  const text = el('input', { type: 'search', value: state.search, minlength: 2, maxlength: 100, 'data-keep': `search-${state.view}` })
  const find = (event) => {
    event.preventDefault()
    const wanted = text.value.trim()
    if ([...wanted].length !== 1) go({ search: wanted })
  }
  return el('form', { class: 'row', role: 'search', onsubmit: find }, labelled(kind.search, text), el('button', { class: 'plain', 'data-keep': 'find' }, 'Find'))
}
