// Tables: a caption, columns and rows. One that is wider than the screen
// scrolls in a region of its own, which the keyboard reaches.

import { changed, count, figureNamed, FIGURES, judged, NONE, shown } from './figures.js'
import { el, hidden, select, svg } from './dom.js'

// table makes a table. A column is {label, cell(row), numeric, head, sort};
// sort is {by, order, choose(name)} of the whole table, for columns with one. total
// is a row below, with the cells total(row) of columns that have it.
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
  const looks = column.numeric && 'n'
  if (!column.sort || !sort) return el('th', { scope: 'col', class: looks, title: column.means }, column.label)
  const order = sort.by === column.sort && sort.order
  return el('th', { scope: 'col', class: looks, 'aria-sort': order && `${order}ending`, title: column.means },
    el('button', { class: 'sort', 'data-keep': `sort-${column.sort}`, onclick: () => sort.choose(column.sort) },
      order && el('span', { class: 'arrow', 'aria-hidden': 'true' }, order === 'asc' ? '▲' : '▼'), column.label))
}

function cell(column, row) {
  const name = column.head ? 'th' : 'td'
  return el(name, { class: column.numeric ? 'n' : column.head ? 'name' : column.looks, scope: column.head && 'row' }, column.cell(row))
}

// value is a figure in a cell; without one it says so to those who listen.
export function value(figure, of, currency) {
  const text = shown(figure, of, currency)
  return text === NONE ? [el('span', { 'aria-hidden': 'true' }, NONE), hidden('no value')] : text
}

function change(figure, of, currency) {
  if (!of?.comparison) return null
  const by = of.comparison.change?.[figure.name]
  return el('span', { class: `change ${judged(figure, by)}` }, changed(figure, by, currency), hidden(` since ${shown(figure, of.comparison[figure.name], currency)}`))
}

// figureColumns are a column for each figure of an answer's rows. A row of several
// currencies says its own.
export function figureColumns({ figures, currency }) {
  const cell = (figure) => (row) => [value(figure, row[figure.name], row.currency ?? currency), change(figure, row, row.currency ?? currency)]
  return (figures?.map(figureNamed) ?? FIGURES).map((figure) => ({ label: figure.label, means: figure.means, numeric: true, sort: figure.name, cell: cell(figure) }))
}

// withShares puts a bar below the spend: how much of the largest it is. Rows that
// are no one thing have none, as next to what is left over all others are small.
export function withShares(columns, rows, isOne = () => true) {
  const largest = Math.max(...rows.filter(isOne).map((row) => Number(row.spend)), 0)
  return columns.map((column) => (column.sort === 'spend'
    ? { ...column, total: column.cell, cell: (row) => [column.cell(row), largest > 0 && isOne(row) && bar(Number(row.spend) / largest)] }
    : column))
}

function bar(share) {
  return svg('svg', { class: 'bar', viewBox: '0 0 100 4', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    svg('rect', { class: 'ground', width: 100, height: 4 }), svg('rect', { class: 'share', width: share * 100, height: 4 }))
}

// emptyOf says why there are no rows: a page past the end, a search without a find, or
// none at all.
export const emptyOf = (pagination, state, none) => (pagination.total_rows !== '0' ? 'This page has no rows.' : state.search ? 'Nothing was found.' : none)

// pages leads through the pages of a list, where it has any. Sizes are those that
// can be chosen; what is their rows' plural.
export function pages(pagination, state, go, what) {
  if (pagination.total_pages === '0') return null
  const page = Number(pagination.page)
  const last = Number(pagination.total_pages)
  const step = (to, label, possible) => el('button', { class: 'plain', 'data-keep': label, disabled: !possible, onclick: () => go({ page: String(to) }) }, label)
  const sizes = [...new Set(['25', '50', '100', '500', state.page_size])].map((size) => [size, size])
  return el('div', { class: 'pages' },
    el('p', {}, `${count(pagination.total_rows)} ${pagination.total_rows === '1' ? what.slice(0, -1) : what}, page ${count(pagination.page)} of ${count(pagination.total_pages)}`),
    el('label', {}, 'Rows on a page ', select('page-size', sizes, state.page_size, (size) => go({ page_size: size }))),
    step(1, 'First', page > 1), step(Math.min(page - 1, last), 'Previous', page > 1), step(page + 1, 'Next', pagination.next_page !== null), step(last, 'Last', pagination.next_page !== null))
}
