// The overview: headline figures, their timeline, and what they are made of.

import { chart } from './chart.js'
import { el, labelled, option } from './dom.js'
import { adType, changed, day, figureNamed, FIGURES, judged, month, shown } from './figures.js'
import { figureColumns, table, value, withShares } from './tables.js'

// drawOverview shows a summary and its timeline.
export function drawOverview(state, { summary, timeline }, { go, nameOf }) {
  const figure = figureNamed(state.measure)
  return [
    headline(summary, figure, go),
    el('section', { class: 'card', 'aria-labelledby': 'timeline-title' },
      el('div', { class: 'head' }, el('h2', { id: 'timeline-title' }, `${figure.label} by ${timeline.granularity}`), granularity(state, go)),
      figure.means && el('p', { class: 'muted' }, figure.means),
      timeline.data.length ? [chart(timeline, figure), legend(timeline), asTable(timeline)] : el('p', { class: 'empty' }, 'No day of this period has a figure.')),
    part('By marketplace', summary.by_marketplace, { label: 'Marketplace', head: true, looks: 'name', cell: (row) => nameOf(row.marketplace, row.marketplace_id) }),
    part('By ad type', summary.by_ad_product, { label: 'Ad type', head: true, looks: 'name', cell: (row) => adType(row.ad_product) }),
  ]
}

// headline are the totals. Each is a choice of what the chart shows.
function headline(summary, chosen, go) {
  return el('fieldset', { class: 'headline' },
    el('legend', { class: 'hidden' }, 'Totals of the period: choose the one that the chart shows'),
    FIGURES.map((figure) => el('label', { class: 'total' },
      el('input', { type: 'radio', name: 'measure', value: figure.name, class: 'hidden', 'data-keep': `measure-${figure.name}`, checked: figure === chosen, onchange: () => go({ measure: figure.name }) }),
      el('span', { class: 'what' }, figure.label),
      el('strong', { 'data-figure': figure.name }, value(figure, summary[figure.name])),
      since(figure, summary))))
}

function since(figure, { comparison }) {
  if (!comparison) return null
  const by = comparison.change?.[figure.name]
  return el('span', { class: 'since' },
    el('span', { class: `change ${judged(figure, by)}` }, changed(figure, by)), ` from ${shown(figure, comparison[figure.name])}`)
}

function granularity(state, go) {
  return labelled('Points', el('select', { 'data-keep': 'granularity', onchange: (event) => go({ granularity: event.target.value }) },
    option('auto', 'Automatic', state.granularity), option('day', 'Days', state.granularity),
    option('week', 'Weeks', state.granularity), option('month', 'Months', state.granularity)))
}

const compares = (timeline) => timeline.data.some((point) => point.comparison)

function legend(timeline) {
  if (!compares(timeline)) return null
  return el('p', { class: 'legend' }, el('span', { class: 'key now' }), 'This period ', el('span', { class: 'key earlier' }), 'The period compared with')
}

// asTable is the timeline for those who read rather than look.
function asTable(timeline) {
  const named = timeline.granularity === 'month' ? month : day
  const when = { label: { day: 'Day', week: 'Week of', month: 'Month' }[timeline.granularity], head: true, looks: 'name', cell: (row) => named(row.date) }
  const columns = [when, ...figureColumns().map((column) => ({ ...column, sort: undefined }))]
  return el('details', {}, el('summary', {}, 'Timeline as a table'), table({ caption: 'Timeline', columns, rows: timeline.data }))
}

function part(title, rows, first) {
  const id = title.toLowerCase().replaceAll(' ', '-')
  const columns = withShares([first, ...figureColumns()], rows)
  return el('section', { class: 'card', 'aria-labelledby': id }, el('h2', { id }, title),
    table({ caption: title, columns, rows, empty: 'No figures in this period.' }))
}
