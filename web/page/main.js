// The page: a key is typed in, the fragment says what to show, the API is
// asked, and the answers are drawn.

import { discard, isOnDevice, keep, kept, whenDiscarded } from './access.js'
import { Api, Problem, sendable } from './api.js'
import { controls } from './controls.js'
import { byId, el, redraw } from './dom.js'
import { copy, elsewhere } from './elsewhere.js'
import { ofApi, remaining, requestsOf } from './requests.js'
import { drawFault, drawRefusal, say, waiting } from './said.js'
import { shareButton } from './share.js'
import { changed, read, write } from './state.js'
import { askAll, drawView, figuresOf, isSyncing, keepNew, MINUTE, sameRequests, STALE, staysShown, VIEWS } from './views.js'

// session is all that the page knows, and is dropped with the key. shown is
// what stands on the page: its state, requests, answers. running ends what a view asks
// when another one is shown; lasting ends downloads and changes with the session.
let session = null

byId('key-form').addEventListener('submit', (event) => {
  event.preventDefault() // the key goes into no form's address or body
  drawRefusal(byId('key-fault'))
  const key = byId('key').value.trim()
  if (sendable(key)) begin(key, (accepted) => keep(accepted, byId('stay').checked))
  else forget('', new Problem(401, {}))
})
// Until the program listened, a browser would have sent the form by itself.
byId('key-form').querySelector('button').disabled = false
byId('forget').addEventListener('click', () => {
  discard()
  forget('You are signed out.')
})
whenDiscarded(() => session && forget('You signed out in another tab.'))
byId('account').addEventListener('click', ({ target }) => { if (session && target.closest('a[href^="#"]')) session.led = true })
addEventListener('hashchange', () => session?.controls && show())
// Back may bring a page back as it was left, with a key that was signed out meanwhile.
addEventListener('pageshow', ({ persisted }) => persisted && location.reload())
const refresh = keepNew(() => session?.shown, show)
addEventListener('online', () => (session?.failed ? show() : refresh()))

// begin starts a session. The account comes first: it shows whether the key is
// right, and answers without an active subscription too: then only connections of
// assistants are shown, to be ended. begin calls accepted(key) once the key is right.
async function begin(key, accepted = () => {}) {
  endSession(session)
  const api = new Api({ Authorization: `Bearer ${key}` })
  const mine = session = { key, api, running: new AbortController(), lasting: new AbortController(), shown: null, labels: new Map(), homes: new Map(), learnt: performance.now() }
  const ask = (path) => api.get({ path }, { signal: mine.running.signal, waiting })
  try {
    welcome(await ask('/api/v1/account'))
    accepted(key)
    mine.marketplaces = await ask('/api/v1/marketplaces').then(({ data }) => data, (error) => {
      if (error.code !== 'subscription_inactive') throw error
      mine.inactive = error
      return []
    })
    furnish()
  } catch (error) {
    if (session === mine) refuse(error)
    return
  }
  show()
}

function endSession(of) {
  of?.running.abort()
  of?.lasting.abort()
  clearTimeout(of?.later)
}

// refuse tells why a session did not begin. Who is known stays. A key that may be right
// need not be typed again.
function refuse(error) {
  const { key, account } = session
  if (!account) {
    forget('', error)
    byId('key').value = error.status === 401 ? '' : key
    byId('forget').hidden = !kept()
    return
  }
  drawFault(account.name, error, () => begin(key))
}

function welcome(account) {
  session.account = account
  byId('key').value = ''
  byId('signin').hidden = true
  byId('account').hidden = false
  byId('forget').hidden = false
  const { status } = account.subscription
  redraw(byId('who'),
    el('strong', {}, account.name),
    account.is_demo && el('span', { class: 'badge' }, 'Demonstration'),
    status !== 'active' && el('span', { class: 'badge warn' }, status),
    el('span', { class: 'muted' }, `Key ${account.api_key.name} (${account.api_key.start}…)`))
}

function furnish() {
  session.controls = controls(go, () => session.shown && figuresOf(session.shown.answers)?.period, session.marketplaces, session.labels)
  redraw(byId('controls'), session.controls.node)
  byId('elsewhere').hidden = true
  const { lasting } = session
  session.elsewhere = elsewhere(byId('elsewhere'), (request) => session.api.file(request, { signal: lasting.signal, waiting }), say, session.account)
}

// forget drops the key with what it showed, and asks for another. One that the
// server refuses is not kept either.
function forget(text, fault) {
  if (fault?.status === 401) discard(session?.key ?? '')
  endSession(session)
  session = null
  for (const id of ['who', 'views', 'controls', 'notices', 'view', 'elsewhere']) byId(id).replaceChildren()
  byId('account').hidden = byId('forget').hidden = true
  byId('signin').hidden = false
  byId('key').value = ''
  if (text) byId('stay').checked = false // for the next user
  drawRefusal(byId('key-fault'), fault)
  document.title = 'adlens'
  say(text)
  byId('key').focus()
}

const go = (patch) => { if (session) location.hash = link(patch) }
const link = (patch) => write(changed(session.state, patch))

// settled is the state of the fragment, with a marketplace where one is needed: the
// first that is filtered by, or of all.
function settled() {
  const state = read(location.hash)
  const wanted = state.marketplaces.toUpperCase().split(/[ ,]+/).map((of) => of.replace('GB', 'UK'))
  const all = session.marketplaces
  const first = all.find((m) => wanted.includes(m.country_code) || wanted.includes(m.marketplace_id)) ?? all[0]
  return state.marketplace_id === '' && first ? { ...state, marketplace_id: first.marketplace_id } : state
}

// show brings the page to what the fragment says. Requests that are shown
// already are asked again only if that is wanted, or byItself, without a click; what was
// running is given up, and a refresh begun once more.
async function show({ byItself = false, again = byItself } = {}) {
  const mine = session
  const isRefresh = mine.refreshing ||= again
  const state = mine.state = settled()
  const requests = requestsOf(state)
  frame(state)
  mine.running.abort()
  clearTimeout(mine.later)
  const running = mine.running = new AbortController()
  if (!again && mine.shown && !mine.failed && sameRequests(requests, mine.shown.requests)) {
    draw(state, mine.shown)
    if (!isRefresh) {
      byId('view').ariaBusy = false
      return comeBack(mine.shown)
    }
  }
  if (!mine.shown && !mine.failed) redraw(byId('view'), el('p', { class: 'empty' }, 'Loading …'))
  byId('view').ariaBusy = true
  try {
    if (mine.inactive && state.view !== 'apps') throw mine.inactive
    const shown = await askAll(requests, (request) => mine.api.get(request, { signal: running.signal, waiting }))
    mine.failed = false
    if (await learn(mine, running, { again: isRefresh, answers: shown.answers })) return show({ again: true, byItself })
    if (running.signal.aborted) return // another view was chosen while it learnt
    mine.refreshing = false
    draw(state, shown)
    comeBack(shown)
  } catch (error) {
    if (running.signal.aborted) return
    const wait = byItself && staysShown(mine.shown, requests, error)
    if (!wait) return fail(error, requests, running)
    running.abort()
    mine.refreshing = false
    mine.shown.at = Date.now() // the timer alone asks
    say(STALE)
    comeBack(mine.shown, wait)
  } finally {
    if (running === session?.running) byId('view').ariaBusy = false
  }
}

// comeBack asks again about a list that is being read, or where the server failed.
function comeBack({ answers }, wait) {
  if (wait || isSyncing(answers)) session.later = setTimeout(() => show({ byItself: true }), wait || MINUTE)
}

function frame(state) {
  const view = VIEWS[state.view]
  const tabs = Object.entries(VIEWS).filter(([, { within }]) => !within)
  redraw(byId('views'), el('ul', {}, tabs.map(([name, { title }]) => el('li', {},
    el('a', { href: link({ view: name }), 'data-keep': `view-${name}`, 'aria-current': [state.view, view.within].includes(name) && 'page' }, title)))))
  byId('controls').hidden = !view.figures || Boolean(session.inactive)
  session.controls.update(state)
  document.title = `${view.title} · ${session.account.name} · adlens`
}

function draw(state, shown) {
  const before = session.shown
  session.shown = shown
  const { account, marketplaces, labels, homes } = session
  session.elsewhere.show(ofApi(shown.asked))
  const answers = answered(state, shown.refused)
  const share = shareButton(answers, account, (node) => copy(node, say))
  drawView(answers, shown, { account, go, link, show, share, marketplaces, labels, homes, nameOf, endApp })
  if (!before || session.view !== state.view) {
    byId('view').querySelector('h1').focus({ preventScroll: true })
    if (before && session.led) scrollTo(0, 0) // a row far below leads to the top of its view, and Back to the row
  }
  session.view = state.view
  session.led = false
}

// answered is a state without what the server refused of it: a link shows what is shown.
function answered(state, refused) {
  const faults = refused.flatMap(({ errors }) => errors)
  return Object.fromEntries(Object.entries(state).map(([name, value]) => [name, remaining(faults, name, value)]))
}

// learn asks for the marketplaces again where that is wanted, where an answer names a new
// one or a day after all that are known, or once a minute while one ends earlier. It
// reports whether there are others. What failed leaves the known ones.
async function learn(mine, running, { again, answers }) {
  const known = mine.marketplaces
  const isNew = ({ marketplace_id: id }) => !known.some((one) => one.marketplace_id === id)
  const goesOn = ({ meta }) => {
    const earlier = known.filter(({ data_last_date: last }) => !last || last < meta?.data_last_date).length
    return meta?.data_last_date && (earlier === known.length || (earlier > 0 && performance.now() > mine.learnt + 60_000))
  }
  if (!again && !answers.summary?.by_marketplace.some(isNew) && !Object.values(answers).some(goesOn)) return false
  const now = await mine.api.get({ path: '/api/v1/marketplaces' }, { signal: running.signal, waiting }).then(({ data }) => data, () => known)
  if (running !== mine.running) return false
  mine.learnt = performance.now()
  mine.marketplaces = now
  if (!now.some(isNew)) return false
  furnish()
  return true
}

// endApp ends the connection of an assistant, and shows those that are left.
async function endApp({ app_id, name }) {
  const mine = session
  try {
    await mine.api.get({ path: `/apps/${encodeURIComponent(app_id)}/revoke`, method: 'POST' }, { signal: mine.lasting.signal, waiting })
    await show({ again: true })
    if (mine === session) say(`The connection of ${name} is ended.`)
  } catch (error) {
    if (mine === session && error.name !== 'AbortError') say(`The connection is not ended: ${error.message}`, error)
  }
}

// nameOf is a marketplace in words; two of one country are told apart by id.
function nameOf(code, id) {
  const twins = session.marketplaces.filter((m) => m.country_code === code)
  return [`${code} · ${twins[0]?.name ?? code}`, twins.length > 1 && el('span', { class: 'id' }, id)]
}

// fail shows why there are no figures. A key that is not valid any more is
// forgotten.
function fail(error, requests, running) {
  if (error.status === 401) return forget('', error)
  running.abort()
  session.failed = true
  session.refreshing = false
  session.elsewhere.show(ofApi(requests.filter(({ after }) => !after))) // those that need no other's answer
  drawFault(VIEWS[session.state.view].title, error, () => (session.inactive ? begin(session.key) : show({ again: true })),
    error.status === 400 && el('p', {}, el('a', { href: `#/${session.state.view}`, 'data-keep': 'plain-view' }, 'Show it as it is without these choices')))
}

// A key that was kept begins by itself.
if (kept()) {
  byId('stay').checked = isOnDevice()
  byId('signin').hidden = true
  begin(kept())
}
