// The views of the page: the requests of each, and what is drawn of its answers.

import { address, Unreachable } from './api.js'
import { byId, el, redraw } from './dom.js'
import { adType, span, words } from './figures.js'
import { drawActivity, drawAdGroups, drawApps, drawCampaigns, drawRules, drawRuns } from './lists.js'
import { drawOverview } from './overview.js'
import { drawReport, REPORTS } from './report.js'
import { without } from './requests.js'
import { drawNotices, freshness, lastDaysOf, say } from './said.js'

export const VIEWS = {
  overview: { title: 'Overview', draw: drawOverview, figures: true },
  ...Object.fromEntries(Object.entries(REPORTS).map(([name, { title }]) => [name, { title, draw: drawReport, figures: true }])),
  campaigns: { title: 'Campaign list', draw: drawCampaigns, within: 'campaign-figures' },
  'ad-groups': { title: 'Ad group list', draw: drawAdGroups, within: 'ad-group-figures' },
  rules: { title: 'Rules', draw: drawRules },
  runs: { title: 'Runs of a rule', draw: drawRuns, within: 'rules' },
  activity: { title: 'Activity', draw: drawActivity },
  apps: { title: 'Assistants', draw: drawApps },
}

// A list that is being read from the platform is there after about this long.
export const MINUTE = 60_000

export const isSyncing = (answers) => Object.values(answers).some(({ meta }) => meta?.syncing)

// BUSY is what answers that come by themselves would disturb, or would not mend.
const BUSY = '[aria-busy=true], .failed, .dates:not([hidden]), .ticks[open], #view :is(details[open], select:open, [type=search]:is(:focus, :user-valid))'

const isTenMinutesOld = ({ at }) => Date.now() - at > 600_000

// isOfYesterday reports whether the period's "today" is another day by now. Its midnight
// is five minutes late, as the server's clock may be.
function isOfYesterday({ at, answers }) {
  const timeZone = figuresOf(answers)?.period.timezone
  const dayOf = (time) => new Date(time - 300_000).toLocaleDateString('en', { timeZone })
  try {
    return timeZone && dayOf(at) !== dayOf(Date.now())
  } catch {
    return false // a zone that this browser does not know
  }
}

// keepNew asks again by itself for answers in sight: minutes after midnight,
// and when the tab comes back, or its network, which calls what is returned.
export function keepNew(current, show) {
  const refresh = (isOld) => !document.hidden && current() && isOld(current()) && show({ byItself: true })
  const comeBack = () => refresh(isTenMinutesOld)
  setInterval(() => document.querySelector(BUSY) ?? refresh(isOfYesterday), MINUTE)
  addEventListener('visibilitychange', comeBack)
  return comeBack
}

byId('skip').addEventListener('click', (event) => {
  event.preventDefault() // the fragment is the state of the view
  byId('main').focus()
})

export const STALE = 'The server does not answer: what is shown may be old.'

// staysShown is when to ask again where asking by itself failed in passing, and what is
// shown stays. Answers count, also those of a server that fails.
export const staysShown = (shown, requests, error) => shown && sameRequests(requests, shown.requests) && (error instanceof Unreachable ? MINUTE : error.status >= 500 && 30 * MINUTE)

export const sameRequests = (one, other) => one.map(address).join() === other.map(address).join()

// askAll asks for all answers of a view at once, and then for those that depend on
// them. Where the server refuses only what a view can do without, it is asked without.
export async function askAll(requests, ask, refused = []) {
  const all = async (asked) => Object.fromEntries(await Promise.all(asked.map(async (request) => [request.name, await ask(request)])))
  try {
    const first = await all(requests.filter(({ after }) => !after))
    const asked = requests.map((request) => (request.after ? request.after(first) : request))
    return { requests, asked, answers: { ...first, ...await all(asked.filter(({ name }) => !first[name])) }, refused, at: Date.now() }
  } catch (error) {
    const plain = requests.map((request) => without(request, error))
    if (sameRequests(plain, requests)) throw error
    return { ...await askAll(plain, ask, [...refused, error]), requests }
  }
}

// figuresOf is the answer that has a period, if one has.
export const figuresOf = (answers) => Object.values(answers).find((answer) => answer.period)

const LIMITS = {
  marketplaces: 'marketplaces', ad_products: 'ad types', campaign_ids: 'campaigns', ad_group_ids: 'ad groups', product_ids: 'products',
  search: 'search', marketplace_id: 'marketplace', states: 'state', tool: 'operation',
}

// limits says what figures or rows are those of. On paper and below a share link
// there are no pickers that do.
function limits({ search, marketplace_id, states, tool }, figures, labels) {
  const shown = { ad_products: adType, states: words, tool: words }
  const said = Object.entries({ ...figures?.filters, search, marketplace_id, states, tool }).filter(([, of]) => of?.length)
  const value = (name, of) => [labels.has(of) && [el('bdi', {}, labels.get(of)), ' '], el('bdi', {}, shown[name]?.(of) ?? of)]
  return said.length > 0 && el('p', { class: 'muted limits' }, 'Filters: ',
    said.map(([name, of], i) => [i > 0 && '; ', `${LIMITS[name]} `, [of].flat().map((one, n) => [n > 0 && ', ', value(name, one)])]))
}

// drawView draws answers below a heading: the period, how fresh they are, the view
// itself.
export function drawView(state, { answers, refused }, tools) {
  const figures = figuresOf(answers)
  const held = figures && lastDaysOf(figures, tools.marketplaces)
  const again = el('button', { class: 'plain', 'data-keep': 'again', onclick: () => tools.show({ again: true }) }, 'Refresh')
  drawNotices(byId('notices'), { meta: Object.values(answers)[0]?.meta, comparison: figures?.comparison, refused, marketplaces: tools.marketplaces, empty: held?.empty })
  redraw(byId('view'),
    el('div', { class: 'title' }, el('h1', { tabindex: -1 }, VIEWS[state.view].title),
      figures && el('p', { class: 'span' }, span(figures.period), figures.comparison?.period && ` compared with ${span(figures.comparison.period)}`),
      again, tools.share),
    held?.isKnown && el('p', { class: 'muted' }, freshness(held.upTo)),
    limits(state, figures, tools.labels),
    VIEWS[state.view].draw(state, answers, { ...tools, held }))
  say('')
}
