// The pickers of period, filters and comparison. They are made once and follow
// the state, so that the focus stays where it is.

import { el, labelled, option, select, unhurried } from './dom.js'
import { adType, FIGURES, FURTHER, words } from './figures.js'
import { REPORTS } from './report.js'

// written: choices, from the catalogue, by go test ./internal/catalogue -update
const RANGES = ['today', 'yesterday', 'last_7_days', 'last_14_days', 'last_30_days', 'last_60_days', 'last_90_days', 'this_month', 'last_month', 'this_year', 'last_year', 'all_time']
const AD_PRODUCTS = ['SPONSORED_PRODUCTS', 'SPONSORED_BRANDS', 'SPONSORED_DISPLAY']
// end of choices
const CURRENCIES = { USD: 'US dollars', local: 'Own currency' }
const COMPARISONS = { none: 'Nothing', previous_period: 'The period before', previous_year: 'The year before' }

// controls makes the pickers. current() is the period that is shown; labels are
// those of ids, as far as they were shown.
export function controls(go, current, marketplaces, labels) {
  const ranges = [...RANGES.map((name) => [name, words(name)]), ['custom', 'Custom dates …']]
  const range = select('range', ranges, '', (chosen) => ((dates.hidden = chosen !== 'custom') ? go({ range: chosen }) : custom()))
  const start = el('input', { type: 'date' })
  const end = el('input', { type: 'date' })
  const apply = () => start.value && end.value && go({ start_date: start.value, end_date: end.value })
  const dates = el('div', { class: 'dates', hidden: true, onkeydown: (event) => event.key === 'Enter' && apply() },
    labelled('From', start), labelled('To', end), el('button', { class: 'plain', onclick: apply }, 'Show'))
  const custom = () => {
    start.value ||= current()?.start_date ?? ''
    end.value ||= current()?.end_date ?? ''
    start.focus()
  }
  const zone = select('zone', zones().map((name) => [name, name]), '', (timezone) => go({ timezone }))
  const compare = select('compare', Object.entries(COMPARISONS), '', (chosen) => go({ compare: chosen }))
  const places = ticks('Marketplaces', countries(marketplaces), (chosen) => go({ marketplaces: chosen }))
  const kinds = ticks('Ad types', AD_PRODUCTS.map((name) => [name, adType(name)]), (chosen) => go({ ad_products: chosen }))

  const currency = select('currency', Object.entries(CURRENCIES), '', (chosen) => go({ currency: chosen }))
  const columns = ticks('Columns', [...FIGURES, ...FURTHER].map(({ name, label }) => [name, label]), (chosen) => go({ figures: chosen }), 'The usual ten')
  columns.node.classList.add('wide') // of long names
  const narrowed = el('div', { class: 'row' })

  const update = (state) => {
    narrowed.replaceChildren(...Object.values(REPORTS).filter(({ filter }) => state[filter]).map((kind) => only(kind, state[kind.filter], labels, go)))
    narrowed.hidden = !narrowed.hasChildNodes()
    columns.node.hidden = !(state.view in REPORTS)
    columns.update(state.figures)
    range.value = state.range || 'custom'
    dates.hidden = state.range !== ''
    start.value = state.start_date
    end.value = state.end_date
    if (![...zone.options].some(({ value }) => value === state.timezone)) zone.append(option(state.timezone, state.timezone))
    zone.value = state.timezone
    compare.value = state.compare
    currency.value = state.currency
    places.update(state.marketplaces)
    kinds.update(state.ad_products)
  }
  const node = el('div', { class: 'controls', role: 'group', 'aria-label': 'Period and filters' },
    labelled('Period', range), dates, labelled('Time zone', zone), labelled('Compare with', compare), labelled('Amounts in', currency), places.node, kinds.node, columns.node, narrowed)
  return { node, update }
}

function only({ one, title, filter }, ids, labels, go) {
  const named = ids.split(',').map((id) => [el('bdi', {}, labels.get(id)), ' ', el('span', { class: 'id' }, id), ' '])
  const showAll = () => {
    document.querySelector('#view h1')?.focus({ preventScroll: true }) // the button goes
    go({ [filter]: '' })
  }
  return el('p', { class: 'narrowed' }, `Only ${one} `, named,
    el('button', { class: 'plain', onclick: showAll }, `Show all ${title.toLowerCase()}`))
}

// countries are the choices of marketplaces; two profiles of a country are one.
const countries = (marketplaces) => [...new Map(marketplaces.map((m) => [m.country_code, `${m.country_code} · ${m.name}`]))].map(([code, text]) => [code, text, code])

// zones begin with UTC and the reader's own.
function zones() {
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone
  return [...new Set(['UTC', own, ...Intl.supportedValuesOf('timeZone')])].filter(Boolean)
}

// ticks is a list of choices of which none means all, or what is usual in words. A
// choice is its value, its text, and a shorter text where there is one.
function ticks(title, choices, chosen, usual = 'All') {
  const said = el('span', { class: 'value' })
  const boxes = choices.map(([value]) => el('input', { type: 'checkbox', value }))
  const node = el('details', { class: 'field ticks', name: 'ticks' },
    el('summary', {}, el('span', {}, title), said),
    el('div', { class: 'choices', role: 'group', 'aria-label': title }, choices.map(([, text], i) => el('label', {}, boxes[i], text))))
  let others = [] // that the address has, and that are no choices as it writes them
  const say = () => { said.textContent = [...choices.filter((_, i) => boxes[i].checked).map(([, text, short]) => short ?? text), ...others].join(', ') || usual }
  const choose = unhurried(chosen)
  node.addEventListener('change', () => {
    others = []
    say()
    const picked = boxes.filter((box) => box.checked).map((box) => box.value)
    choose(usual === 'All' && picked.length === boxes.length ? '' : picked.join(','))
  })
  node.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return
    node.open = false
    node.querySelector('summary').focus()
  })
  node.addEventListener('focusout', ({ relatedTarget: to }) => { // a press on a label moves the focus to what is around all
    if (to && !node.contains(to) && !to.contains(node)) node.open = false
  })
  return {
    node,
    update(text) {
      const wanted = text.split(',')
      boxes.forEach((box) => { box.checked = wanted.includes(box.value) })
      others = wanted.filter((value) => value && !boxes.some((box) => box.value === value))
      say()
    },
  }
}

// A click anywhere else closes the list of choices.
document.addEventListener('pointerdown', (event) => {
  for (const open of document.querySelectorAll('.ticks[open]')) {
    if (!open.contains(event.target)) open.open = false
  }
})
