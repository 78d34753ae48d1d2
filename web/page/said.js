// What the page says beside the figures: waits, faults, and what an answer does
// not cover.

import { Problem, Unreachable } from './api.js'
import { byId, el, redraw } from './dom.js'
import { day } from './figures.js'

// say tells something in passing; with a problem it links to its page.
export function say(text, problem) {
  byId('said').replaceChildren(...(text ? [el('p', {}, text, problem && about(problem))] : []))
}

// waiting tells that the server is asked again after some seconds. Only the
// first second of a wait is read out, not each.
export function waiting(problem, left) {
  if (!problem) return say('')
  const clock = byId('said').querySelector('[data-clock]')
  if (clock) clock.textContent = `${left} s`
  else byId('said').replaceChildren(el('p', { class: 'waiting' }, `${sentence(problem.message)} The page asks again by itself, in `, el('span', { 'data-clock': '', 'aria-hidden': 'true' }, `${left} s`), '.', about(problem)))
}

const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1).replace(/[.]?$/, '.')

// about links to the page that explains a problem, if it is a page of this
// server.
function about(problem) {
  const home = URL.canParse(problem.type, location.href) && new URL(problem.type, location.href).origin === location.origin
  return problem.type && home ? [' ', el('a', { href: problem.type, target: '_blank', rel: 'noopener' }, 'What this means')] : null
}

// drawRefusal tells why a key is not taken.
export function drawRefusal(place, error) {
  const wrong = error instanceof Problem && error.status === 401
  redraw(place, error && [wrong ? 'The server does not take this key: it is misspelt, revoked or expired.' : sentence(error.message),
    error instanceof Problem && about(error)])
}

// drawFault explains why there is nothing to see, and offers to try again.
export function drawFault(error, again) {
  const problem = error instanceof Problem ? error : null
  const title = problem?.title ?? (error instanceof Unreachable ? 'No answer' : 'This page failed')
  const detail = error instanceof Unreachable ? `${error.message}. Is the network there, and does the server run?` : error.message
  return el('section', { class: 'card failed', role: 'alert', 'aria-labelledby': 'fault-title' },
    el('h2', { id: 'fault-title' }, title),
    problem?.errors.length > 1
      ? el('ul', {}, problem.errors.map((fault) => el('li', {}, `${fault.parameter}: ${fault.detail}`)))
      : el('p', {}, sentence(detail)),
    problem && el('p', {}, about(problem)),
    problem?.status === 403 && el('p', {}, 'The key is valid, but nothing but the account itself is answered.'),
    problem?.requestId && el('p', { class: 'muted' }, `Status ${problem.status}, request ${problem.requestId}`),
    el('button', { type: 'button', class: 'main', onclick: again }, 'Try again'))
}

// drawNotices tells what figures do not cover. meta is an answer's.
export function drawNotices(place, { meta, comparison, refused }) {
  const texts = []
  if (meta?.data_last_date === null) texts.push('The account holds no figures yet. They come with adlens load or adlens pull; this page shows them with the next request.')
  else if (meta?.history_covered === false) texts.push('The period begins before the oldest day that is held, so its first days are missing.')
  if (comparison?.history_covered === false) texts.push('The period compared with begins before the oldest day that is held, so no change is shown.')
  for (const part of meta?.incomplete ?? []) if (part.reason === 'legacy_sponsored_brands') texts.push(leftOut(part))
  if (meta?.truncated === true) texts.push('The server left something out: there is more than it answers at once.')
  if (refused) texts.push(`Shown without a comparison: ${refused}`)
  redraw(place, texts.map((text) => el('p', { class: 'notice' }, text)))
}

// leftOut names the campaigns that the platform's reports leave out.
function leftOut({ marketplace, campaign_count: count, campaigns }) {
  const named = campaigns.map((c) => c.campaign_name).join(', ')
  return `Sponsored Brands of ${marketplace} are too low: the platform reports no figures of ${count === 1 ? 'a campaign' : `${count} campaigns`} of the older form with one ad group (${named}${count > campaigns.length ? ', …' : ''}).`
}

// freshness is how far figures go, in words.
export const freshness = (meta) => (meta?.data_last_date ? `Figures up to ${day(meta.data_last_date)}; the last days still grow, because sales are credited days after the click.` : '')
