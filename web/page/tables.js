// Tables: a caption, columns and rows. One that is wider than the screen
// scrolls in a region of its own, which the keyboard reaches.

import { changed, figureNamed, FIGURES, judged, NONE, shown } from './figures.js'
import { el, hidden, svg } from './dom.js'

// table makes a table. A column is {label, cell(row), numeric, head, sort};
// sort is {by, order, choose(name)} of the whole table, for columns with one. total
// is a row below the others, whose cells are total(row) where a column has that.
export function table({ caption, columns, rows, total, sort, empty = 'Nothing to show.' }) {
  if (rows.length === 0) return el('p', { class: 'empty' }, empty)
  return el('div', { class: 'scroll', role: 'group', tabindex: 0, 'aria-label': caption },
    el('table', {},
      el('caption', { class: 'hidden' }, caption),
      el('thead', {}, el('tr', {}, columns.map((column) => header(column, sort)))),
      el('tbody', {}, rows.map((row) => el('tr', {}, columns.map((column) => cell(column, row))))),
      total && el('tfoot', {}, el('tr', {}, columns.map((column) => cell({ ...column, cell: column.total ?? column.cell }, total))))))
}

function header(column, sort) {
  const looks = column.numeric ? 'n' : undefined
  if (!column.sort || !sort) return el('th', { scope: 'col', class: looks, title: column.means }, column.label)
  const active = sort.by === column.sort
  const direction = active ? (sort.order === 'asc' ? 'ascending' : 'descending') : undefined
  const mark = { ascending: '▲', descending: '▼' }[direction] ?? ''
  return el('th', { scope: 'col', class: looks, 'aria-sort': direction, title: column.means },
    el('button', { type: 'button', class: 'sort', 'data-keep': `sort-${column.sort}`, onclick: () => sort.choose(column.sort) },
      mark && el('span', { class: 'arrow', 'aria-hidden': 'true' }, mark), column.label))
}

function cell(column, row) {
  const name = column.head ? 'th' : 'td'
  return el(name, { class: column.numeric ? 'n' : column.looks, scope: column.head ? 'row' : undefined }, column.cell(row))
}

// value is a figure in a cell; without one it says so to those who listen.
export function value(figure, of) {
  const text = shown(figure, of)
  return text === NONE ? [el('span', { 'aria-hidden': 'true' }, NONE), hidden('no value')] : text
}

// change is how a figure changed, where the answer compares.
export function change(figure, of) {
  if (!of?.comparison) return null
  const by = of.comparison.change?.[figure.name]
  return el('span', { class: `change ${judged(figure, by)}` }, changed(figure, by), hidden(` since ${shown(figure, of.comparison[figure.name])}`))
}

// figureColumns are a column for each figure of a row, or for some by their names.
export const figureColumns = (names) => FIGURES.filter(({ name }) => !names || names.includes(name)).map((figure) => ({
  label: figure.label, means: figure.means, numeric: true, sort: figure.name,
  cell: (row) => [value(figure, row[figure.name]), change(figure, row)],
}))

// withShares puts a bar below the spend: how much of the largest it is.
export function withShares(columns, rows) {
  const largest = Math.max(...rows.map((row) => Number(row.spend)), 0)
  return columns.map((column) => (column.sort === 'spend'
    ? { ...column, total: column.cell, cell: (row) => [column.cell(row), largest > 0 && bar(Number(row.spend) / largest)] }
    : column))
}

function bar(share) {
  return svg('svg', { class: 'bar', viewBox: '0 0 100 4', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    svg('rect', { class: 'ground', width: 100, height: 4 }), svg('rect', { class: 'share', width: share * 100, height: 4 }))
}

// pages leads through the pages of a list. Sizes are those that can be chosen.
export function pages(pagination, state, go, what) {
  const page = Number(pagination.page)
  const last = Number(pagination.total_pages)
  const step = (to, label, possible) => el('button', { type: 'button', class: 'plain', 'data-keep': label, disabled: !possible, onclick: () => go({ page: String(to) }) }, label)
  const sizes = el('select', { 'data-keep': 'page-size', onchange: (event) => go({ page_size: event.target.value }) },
    [...new Set(['25', '50', '100', '500', state.page_size])].map((size) => el('option', { value: size, selected: size === state.page_size }, size)))
  return el('div', { class: 'pages' },
    el('p', {}, `${figureCount(pagination.total_rows)} ${what}, page ${figureCount(pagination.page)} of ${figureCount(pagination.total_pages)}`),
    el('label', {}, 'Rows on a page ', sizes),
    step(1, 'First', page > 1), step(page - 1, 'Previous', page > 1), step(page + 1, 'Next', pagination.next_page !== null), step(last, 'Last', pagination.next_page !== null))
}

const figureCount = (number) => shown(figureNamed('impressions'), number)
