// The figures in the order of the API, and how they and other values are shown.
//
// Numbers of answers are texts here, with the digits that the server sent (see exact
// in api.js). Intl.NumberFormat takes them as they are: none becomes a binary float.

import { AMOUNTS, COUNTS } from './measures.js'

// better is 1 where more is good, -1 where less is, and 0 where it depends.
export const FIGURES = [
  // written: figures, from the catalogue, by go test ./internal/catalogue -update
  { name: 'spend', label: 'Spend', kind: 'money', better: 0 },
  { name: 'sales', label: 'Sales', kind: 'money', better: 1 },
  { name: 'acos', label: 'ACOS', kind: 'percent', better: -1, means: 'spend / sales' },
  { name: 'roas', label: 'ROAS', kind: 'ratio', better: 1, means: 'sales / spend' },
  { name: 'impressions', label: 'Impressions', kind: 'count', better: 1 },
  { name: 'clicks', label: 'Clicks', kind: 'count', better: 1 },
  { name: 'ctr', label: 'CTR', kind: 'percent', better: 1, means: 'clicks / impressions' },
  { name: 'average_cpc', label: 'Average CPC', kind: 'money', better: -1, means: 'spend / clicks' },
  { name: 'purchases', label: 'Orders', kind: 'count', better: 1 },
  { name: 'conversion_rate', label: 'Conversion', kind: 'percent', better: 1, means: 'orders / clicks' },
  // end of figures
]

// FURTHER are those that reports can have besides.
export const FURTHER = [['count', COUNTS], ['money', AMOUNTS]].flatMap(([kind, names]) => names.map((name) => ({ name, label: words(name), kind, better: 0 })))

export const figureNamed = (name) => [...FIGURES, ...FURTHER].find((figure) => figure.name === name) ?? FIGURES[0]

const cents = { minimumFractionDigits: 2, maximumFractionDigits: 2 }
const shapes = {
  money: { style: 'currency', ...cents },
  percent: { style: 'unit', unit: 'percent', ...cents },
  ratio: cents,
  count: { maximumFractionDigits: 0 },
}
// An account without marketplaces has no currency of its own.
const shapeOf = ({ kind }, currency) => (kind === 'money' ? (currency ? { ...shapes.money, currency } : cents) : shapes[kind])
const compact = { notation: 'compact', minimumFractionDigits: 0, maximumFractionDigits: 2 }
const signed = { signDisplay: 'exceptZero' }

const formats = new Map()

function format(shape, value) {
  const name = JSON.stringify(shape)
  if (!formats.has(name)) formats.set(name, new Intl.NumberFormat(undefined, shape))
  return formats.get(name).format(value)
}

// NONE stands where there is no value: a ratio without its base.
export const NONE = '–'

export const orNone = (value, show) => ((value ?? null) === null ? NONE : show(value))

// shown is a figure as its text; currency is that of the answer or row.
export const shown = (figure, value, currency) => orNone(value, () => format(shapeOf(figure, currency), value))

// tick is a value at an axis, in few characters.
export const tick = (figure, value, currency) => format({ ...shapeOf(figure, currency), ...compact }, value)

// amount is a bid or a budget as it was set, in the marketplace's own currency.
export const amount = (value, currency) => orNone(value, () => format({ ...shapeOf({ kind: 'money' }, currency), maximumFractionDigits: 20 }, value))

export const count = (value) => orNone(value, () => format(shapes.count, value))

// Sums change by percent, percentages by points, other ratios by their unit.
const changesBy = (figure) => (figure.means === undefined ? '%' : figure.kind === 'percent' ? ' pts' : '')

// changed is the change of a figure as its text.
export function changed(figure, value, currency) {
  const unit = changesBy(figure)
  return orNone(value, () => (unit ? format({ ...cents, ...signed }, value) + unit : format({ ...shapeOf(figure, currency), ...signed }, value)))
}

// judged reports whether a change is good, bad or neither, as a class name.
export function judged(figure, value) {
  const direction = /^-?[0.]+$/.test(value ?? 0) ? 0 : value.startsWith('-') ? -1 : 1
  const verdict = direction * figure.better
  return verdict > 0 ? 'good' : verdict < 0 ? 'bad' : 'even'
}

// Answers count days and months by the Gregorian calendar, whatever that of the
// reader's language is.
const dates = (shape) => new Intl.DateTimeFormat(undefined, { timeZone: 'UTC', calendar: 'gregory', ...shape })
const days = dates({ day: 'numeric', month: 'short', year: 'numeric' })
const shortDays = dates({ day: 'numeric', month: 'short' })
const months = dates({ month: 'short', year: 'numeric' })
const times = dates({ dateStyle: 'medium', timeStyle: 'short' })

const noon = (date) => new Date(`${date}T12:00:00Z`)
const inWords = (shape) => (date) => orNone(date, () => shape.format(noon(date)))

// day is a date (YYYY-MM-DD) as people write it.
export const day = inWords(days)

export const shortDay = inWords(shortDays)

export const month = inWords(months)

export const span = (period) => days.formatRange(noon(period.start_date), noon(period.end_date))

export const time = (stamp) => orNone(stamp, () => `${times.format(new Date(stamp))} UTC`)

// words makes SPONSORED_PRODUCTS readable.
export function words(name) {
  const text = String(name).toLowerCase().replaceAll('_', ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

export const adType = (name) => String(name).split('_').map(words).join(' ')
