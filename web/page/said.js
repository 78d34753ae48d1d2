// What the page says beside the figures: waits, faults, and what an answer does
// not cover.

import { Problem, Unreachable } from './api.js'
import { byId, el, redraw } from './dom.js'
import { adType, count, day, figureNamed, span } from './figures.js'
import { DISPENSABLE } from './requests.js'
import { daysBetween, least } from './slots.js'

// say tells something in passing; with an error it links to its page.
export function say(text, error) {
  byId('said').replaceChildren(...(text ? [el('p', {}, text, error && about(error))] : []))
}

// waiting tells that the server is asked again after some seconds. Only the
// first second of a wait is read out, not each.
export function waiting(problem, left) {
  if (!problem) return say('')
  const clock = byId('said').querySelector('[data-clock]')
  if (clock) clock.textContent = `${left} s`
  else byId('said').replaceChildren(el('p', { class: 'waiting' }, `${sentence(problem.message)} The page asks again by itself, in `, el('span', { 'data-clock': '', 'aria-hidden': 'true' }, `${left} s`), '.', about(problem)))
}

const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1).replace(/[^.?]$/, '$&.')

// about links to the page that explains an error, if this server has one.
function about(problem) {
  const home = URL.canParse(problem.type, location.href) && new URL(problem.type, location.href).origin === location.origin
  return problem.type && home ? [' ', el('a', { href: problem.type, target: '_blank', rel: 'noopener' }, 'What this means')] : null
}

export function drawRefusal(place, error) {
  const wrong = error?.status === 401
  redraw(place, error && [wrong ? 'The server does not take this key: it is misspelt, revoked or expired.' : sentence(error.message), about(error)])
}

// drawFault explains below a heading why there is nothing to see, and offers to try again.
export function drawFault(heading, error, again, more) {
  const problem = error instanceof Problem ? error : null
  const title = problem?.title ?? (error instanceof Unreachable ? 'No answer' : 'This page failed')
  const detail = error instanceof Unreachable ? `${error.message}. Is the network there, and does the server run?` : error.message
  byId('notices').replaceChildren()
  redraw(byId('view'), el('h1', { tabindex: -1 }, heading), el('section', { class: 'card failed', role: 'alert', 'aria-labelledby': 'fault-title' },
    el('h2', { id: 'fault-title' }, title),
    problem?.errors.length > 1
      ? el('ul', {}, problem.errors.map((fault) => el('li', {}, `${fault.parameter}: ${fault.detail}`)))
      : el('p', {}, sentence(detail)),
    problem && el('p', {}, about(problem)),
    problem?.status === 403 && el('p', {}, 'The key is valid, but only the account and its assistants are answered.'),
    problem?.requestId && el('p', { class: 'muted' }, `Status ${problem.status}, request ${problem.requestId}`),
    el('button', { class: 'main', 'data-keep': 'retry', onclick: again }, 'Try again')), more)
}

// drawNotices tells what figures do not cover. meta is an answer's; refused are the
// errors of what a view is shown without.
export function drawNotices(place, { meta, comparison, refused, marketplaces, empty = [] }) {
  const texts = []
  const missing = meta?.not_held ?? []
  const named = namedAmong(marketplaces)
  if (meta?.data_last_date === null) texts.push('The account holds no figures yet. They come with adlens load or adlens pull; this page shows them with the next request.')
  else if (meta?.history_covered === false) texts.push('The period begins before the oldest day that is held, so its first days are missing.')
  if (meta?.data_last_date && empty.length) texts.push(`No figures of ${empty.map(named).join(', ')} are held yet.`)
  texts.push(...staleness(meta, marketplaces, missing))
  if (missing.length) texts.push(`No figures are held of ${notHeld(missing, named)}. Sums ${comparison ? 'and changes ' : ''}lack those days.`)
  if (comparison?.history_covered === false) texts.push('The period compared with begins before the oldest day that is held, so no change is shown.')
  texts.push(...incomplete(meta?.incomplete ?? []))
  if (meta?.truncated === true) texts.push('The server left something out: there is more than it answers at once.')
  for (const { message, errors } of refused ?? []) texts.push(`Shown without ${[...new Set(errors.map(({ parameter }) => DISPENSABLE[parameter]))].join(' and ')}: ${message}`)
  if (place.textContent !== texts.join('')) redraw(place, texts.map((text) => el('p', { class: 'notice' }, text))) // or it is read out again
}

// namedAmong names a marketplace by its country; of two, with the id.
const namedAmong = (all) => ({ country_code, marketplace = country_code, marketplace_id: id }) => (
  all.filter((m) => m.country_code === marketplace).length > 1 ? `${marketplace} ${id}` : marketplace)

// written: ages, from day.go, by go test ./internal/catalogue -update
const STALE_DAYS = 4
const BEHIND_DAYS = 7
// end of ages

// isStale reports whether the last day with figures is older than it should be.
const isStale = (last) => daysBetween(last, new Date().toISOString().slice(0, 10)) > STALE_DAYS

// isBehind reports whether figures, where there are any, end long before others.
const isBehind = (last, newest) => last && daysBetween(last, newest) > BEHIND_DAYS

// lastDaysOf are the last day that is held of all marketplaces of an answer, but those
// that are behind the others, which a notice names, and the newest of any: the account's
// below a share link, which knows none. A campaign is of the one that has figures of it.
// isKnown reports whether that is the last day of what is shown; empty are the
// marketplaces without a day.
export function lastDaysOf({ filters, meta, by_marketplace: parts, data: rows }, marketplaces) {
  const ids = filters.campaign_ids ?? filters.ad_group_ids
  const found = [...new Set((parts ?? rows).flatMap((of) => of.marketplace_id ?? of.marketplaces ?? []))]
  const isFound = ids && found.length >= ids.length
  const wanted = isFound ? found : filters.marketplaces
  const shown = marketplaces.filter((m) => wanted?.some((of) => of === m.country_code || of === m.marketplace_id) ?? true)
  const days = shown.map((m) => m.data_last_date).filter(Boolean).sort()
  const newest = least(meta.data_last_date, days.at(-1))
  return {
    upTo: least(newest, days.find((last) => !isBehind(last, days.at(-1)))), newest,
    isKnown: marketplaces.length ? days.length > 0 && (!ids || isFound) : !ids && !wanted,
    empty: shown.filter((m) => !m.data_last_date),
  }
}

// notHeld lists days that no report covers: by their dates the marketplaces, with the ad
// type where another one of the marketplace has other dates.
function notHeld(missing, named) {
  const datesOf = ({ days, ...of }) => (days > daysBetween(of.start_date, of.end_date) ? '' : `${count(days)} days of `) + span(of)
  return [...Map.groupBy(missing, datesOf)].map(([dates, of]) => {
    const differs = (part) => missing.some((other) => other.marketplace_id === part.marketplace_id && !of.includes(other))
    const places = of.map((part) => (differs(part) ? `${adType(part.ad_product)} of ` : '') + named(part))
    return `${[...new Set(places)].join(', ')} for ${dates}`
  }).join('; of ')
}

// staleness tells where figures end that should go on, as doctor does, unless that is
// named as missing.
function staleness(meta, marketplaces, missing) {
  const last = meta?.data_last_date
  if (!last) return []
  return [
    isStale(last) && `No figures have come since ${day(last)}: the newest day should be at most ${STALE_DAYS} days old. The operator of this server finds the reason with adlens doctor.`,
    ...marketplaces.filter((m) => isBehind(m.data_last_date, last) && !missing.some((of) => of.marketplace_id === m.marketplace_id && of.end_date > m.data_last_date)).map((m) => `The figures of ${m.country_code} ${m.marketplace_id} end on ${day(m.data_last_date)}, those of other marketplaces on ${day(last)}.`),
  ].filter(Boolean)
}

// incomplete says which figures are not of all campaigns or of all reports.
function incomplete(parts) {
  const lacking = Map.groupBy(parts.filter(({ figures }) => figures), ({ figures }) => figures.map((name) => figureNamed(name).label).join(', '))
  return [
    ...parts.filter(({ reason }) => reason === 'legacy_sponsored_brands').map(leftOut),
    ...[...lacking].map(([labels, of]) => `${labels}: not reported, or not by all reports, for ${of.map((part) => `${adType(part.ad_product)} of ${part.marketplace}`).join(', ')}.`),
  ]
}

// leftOut names the campaigns that the platform's reports leave out.
function leftOut({ marketplace, campaign_count: total, campaigns }) {
  const named = campaigns.map((c) => c.campaign_name).join(', ')
  return `Sponsored Brands of ${marketplace} are too low: the platform reports no figures of ${Number(total) === 1 ? 'a legacy campaign' : `${count(total)} legacy campaigns`} with one ad group (${named}${Number(total) > campaigns.length ? ', …' : ''}).`
}

export const freshness = (last) => last && `Figures up to ${day(last)}${isStale(last) ? '.' : '; the last days still grow, because sales are credited days after the click.'}`
