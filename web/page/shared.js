// The page of a share link: one saved view without a key. The server decides from
// what was saved what is answered; the reader turns pages and sorts rows.

import { Api } from './api.js'
import { byId, el } from './dom.js'
import { requestsOf } from './requests.js'
import { drawFault, say, waiting } from './said.js'
import { changed, read, write } from './state.js'
import { askAll, drawView, isSyncing, keepNew, MINUTE, sameRequests, STALE, staysShown, VIEWS } from './views.js'

const ROWS = ['page', 'page_size', 'sort', 'order']
const CHOSEN = [...ROWS, 'measure', 'second']
const SENT = ['dimensions', ...ROWS]

const { view: saved } = document.body.dataset
const api = new Api({}, location.pathname)
const labels = new Map()
let running = new AbortController()
let shown = null

addEventListener('hashchange', () => show())
const refresh = keepNew(() => shown, show)
addEventListener('online', () => (shown ? refresh() : show()))

// settled is the saved state with what the reader chose.
function settled() {
  const chosen = read(location.hash)
  const state = read(saved)
  if (location.hash && chosen.view === state.view) CHOSEN.filter((name) => name in state).forEach((name) => { state[name] = chosen[name] })
  return state
}

// asOfLink leaves of a request what the link does not know by itself. It compares as
// it was saved, unless that is left out.
function asOfLink(request, state) {
  const alone = VIEWS[state.view].figures && state.compare !== 'none' && !request.params.some(([name]) => name === 'compare')
  const params = request.params.filter(([name]) => SENT.includes(name))
  return { ...request, params: alone ? [...params, ['compare', 'none']] : params }
}

async function show({ byItself = false, again = byItself } = {}) {
  const state = settled()
  running.abort()
  const mine = running = new AbortController()
  const requests = requestsOf(state)
  let stale = false
  byId('view').ariaBusy = true
  try {
    if (again || !shown || !sameRequests(requests, shown.requests)) {
      const answered = await askAll(requests, (request) => api.get(asOfLink(request, state), { signal: mine.signal, waiting }))
      if (mine !== running) return
      shown = answered
    }
    drawView(state, shown, { go: choose, show, labels, nameOf, fixed: true, marketplaces: [] })
  } catch (error) {
    if (mine !== running) return
    stale = byItself && staysShown(shown, requests, error)
    if (stale) {
      shown.at = Date.now() // the timer alone asks
      say(STALE)
    } else fail(error)
  }
  if (mine !== running) return
  byId('view').ariaBusy = false
  if (shown && (stale || isSyncing(shown.answers))) setTimeout(() => mine === running && show({ byItself: true }), stale || MINUTE)
}

const choose = (patch) => { location.hash = write(changed(settled(), patch)) }

const countries = new Intl.DisplayNames(['en'], { type: 'region' })

// nameOf is a marketplace in words; two of one country are told apart by id.
function nameOf(code, id) {
  const rows = Object.values(shown.answers).flatMap(({ by_marketplace: parts, data }) => [...parts ?? [], ...data ?? []])
  const twins = new Set(rows.filter(({ marketplace }) => marketplace === code).map(({ marketplace_id }) => marketplace_id))
  return [`${code} · ${countries.of(code === 'UK' ? 'GB' : code)}`, twins.size > 1 && el('span', { class: 'id' }, id)]
}

function fail(error) {
  shown = null
  drawFault(VIEWS[read(saved).view].title, error, () => show())
}

show()
