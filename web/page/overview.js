// The overview: headline figures, their timeline, and what they are made of.

import { chart } from './chart.js'
import { el, labelled, select } from './dom.js'
import { adType, changed, figureNamed, FIGURES, judged, shown } from './figures.js'
import { BUCKETS, slotsOf, timelineOf, titleOf, unfinished } from './slots.js'
import { stacked, STACKS } from './stack.js'
import { figureColumns, table, value, withShares } from './tables.js'

export function drawOverview(state, { summary, timeline, parts }, { go, nameOf, fixed, held }) {
  const figure = figureNamed(state.measure)
  return [
    headline(summary, figure, go),
    timelineCard(state, figure, timelineOf(timeline, held), parts && stacked(timelineOf(parts), summary, state.stack, figure), go, fixed),
    part('By marketplace', summary, 'by_marketplace', { label: 'Marketplace', head: true, cell: (row) => nameOf(row.marketplace, row.marketplace_id) }),
    part('By ad type', summary, 'by_ad_product', { label: 'Ad type', head: true, cell: (row) => adType(row.ad_product) }),
  ]
}

// headline are the totals. Each is a choice of what the chart shows.
function headline(summary, chosen, go) {
  return el('fieldset', { class: 'headline' },
    el('legend', { class: 'hidden' }, 'Totals of the period: choose the one that the chart shows'),
    FIGURES.map((figure) => el('label', { class: 'total' },
      el('input', { type: 'radio', name: 'measure', value: figure.name, class: 'hidden', 'data-keep': `measure-${figure.name}`, checked: figure === chosen, onchange: () => go({ measure: figure.name }) }),
      el('span', { class: 'what' }, figure.label),
      el('strong', { 'data-figure': figure.name }, value(figure, summary[figure.name], summary.currency)),
      since(figure, summary))))
}

function since(figure, { comparison, currency }) {
  if (!comparison) return null
  const by = comparison.change?.[figure.name]
  return el('span', { class: 'since' },
    el('span', { class: `change ${judged(figure, by)}` }, changed(figure, by, currency)), ` from ${shown(figure, comparison[figure.name], currency)}`)
}

function timelineCard(state, figure, timeline, partsOf, go, fixed) {
  const second = FIGURES.find(({ name }) => name === state.second && name !== figure.name)
  const named = [figure, second].filter(Boolean)
  const slots = slotsOf(timeline)
  const title = `${named.map(({ label }) => label).join(' and ')} by ${timeline.granularity}${partsOf ? ` and ${STACKS[state.stack].label.toLowerCase()}` : ''}`
  return el('section', { class: 'card', 'aria-labelledby': 'timeline-title' },
    el('div', { class: 'head' }, el('h2', { id: 'timeline-title' }, title), choices(state, figure, go, fixed)),
    named.filter(({ means }) => means).map(({ label, means }) => el('p', { class: 'muted' }, `${label}: ${means}`)),
    state.stack && !partsOf && el('p', { class: 'muted' }, `${figure.label} is a ratio, which those of its parts do not add up to, so it is not stacked.`),
    timeline.data.length ? [chart(timeline, figure, { second, partsOf }), legend(timeline, second, partsOf?.(slots)), asTable(timeline)] : el('p', { class: 'empty' }, 'No day of this period has a figure.'))
}

// choices are what the chart shows next to the chosen figure. In a fixed view they
// are those that need no other answer.
function choices(state, figure, go, fixed) {
  const choice = (label, name, options) => labelled(label, select(name, options, state[name], (of) => go({ [name]: of })))
  const dimensions = Object.entries(STACKS).map(([name, { label }]) => [name, label])
  const others = FIGURES.filter((other) => other !== figure).map(({ name, label }) => [name, label])
  return el('div', { class: 'row' },
    !fixed && choice('Points', 'granularity', [['auto', 'Automatic'], ['day', 'Days'], ['week', 'Weeks'], ['month', 'Months']]),
    choice('Second figure', 'second', [['', 'None'], ...others]),
    !fixed && choice('Stacked by', 'stack', [['', 'Nothing'], ...dimensions]))
}

function legend(timeline, second, parts) {
  const open = timeline.data.some(({ date, comparison }) => unfinished(date, timeline) || comparison?.open)
  const keys = [
    ...(parts ?? []).map(({ label }, n) => [`part-${n}`, label]),
    !parts && (timeline.comparison || second) && ['now', timeline.comparison ? 'This period' : 'Left axis'],
    timeline.comparison && ['earlier', 'The period compared with'],
    second && ['second', `${second.label}, right axis`],
    open && [parts ? 'unfinished hatched' : 'unfinished', `Not complete: the newest day, or a ${timeline.granularity} that the period or the figures cut`],
  ].filter(Boolean)
  return keys.length > 0 && el('p', { class: 'legend' }, keys.map(([looks, text]) => el('span', {}, el('i', { class: `key ${looks}` }), text)))
}

function asTable(timeline) {
  const bucket = BUCKETS[timeline.granularity]
  const muted = (text) => text && el('span', { class: 'id' }, text)
  const name = ({ date, comparison: of }) => [bucket.named(date), muted(unfinished(date, timeline)), of && muted(`compared with ${titleOf(bucket, of.date, of.open)}`)]
  const columns = [{ label: bucket.word, head: true, cell: name }, ...figureColumns(timeline)]
  return el('details', {}, el('summary', {}, 'Timeline as a table'), table({ caption: 'Timeline', columns, rows: timeline.data }))
}

function part(title, summary, name, first) {
  const id = title.toLowerCase().replaceAll(' ', '-')
  const columns = withShares([first, ...figureColumns(summary)], summary[name])
  return el('section', { class: 'card', 'aria-labelledby': id }, el('h2', { id }, title),
    table({ caption: title, columns, rows: summary[name], empty: 'No figures in this period.' }))
}
