// The days, weeks or months that a timeline goes over, with figures or without, and
// which of them are not complete.

import { day, FIGURES, month, shortDay } from './figures.js'

// BUCKETS are the granularities: the dimension of reports, the word for one, its
// name from its first day, that at an axis, and the pixels that the latter takes.
export const BUCKETS = {
  day: { dimension: 'date', word: 'Day', named: day, short: shortDay, room: 66 },
  week: { dimension: 'week', word: 'Week', named: (date) => (date ? `Week of ${day(date)}` : day(date)), short: shortDay, room: 66 },
  month: { dimension: 'month', word: 'Month', named: month, short: month, room: 84 },
}

// bucketOf is a granularity with names that tell its slots apart at an axis: over
// more than a year a day needs its year.
export function bucketOf(granularity, slots) {
  const bucket = BUCKETS[granularity]
  return slots.findLast(Boolean) > moved(slots[0], 'month', 12) ? { ...bucket, short: month, room: BUCKETS.month.room } : bucket
}

// timelineOf is an answer as a timeline that is held {upTo, newest}: a report by days,
// weeks or months is one, whose rows have their date under another name.
export function timelineOf(answer, held) {
  const granularity = answer.granularity ?? Object.keys(BUCKETS).find((name) => BUCKETS[name].dimension === answer.dimensions[0])
  const timeline = { ...answer, granularity, ...held }
  const dated = (of) => of && { ...of, date: of.date ?? of[BUCKETS[granularity].dimension] ?? null }
  return { ...timeline, data: answer.data.map((row) => ({ ...dated(row), comparison: comparable(dated(row), dated(row.comparison), timeline) })) }
}

// comparable is the earlier side of a point, with what is not whole of it in words. It has
// no change where a side is missing, is cut to other days than the other one, or is not
// of all marketplaces.
function comparable({ date }, earlier, timeline) {
  if (!earlier) return earlier
  const open = unfinished(earlier.date, { ...timeline, period: timeline.comparison.period })
  const cut = (words) => /yet|^$/.test(words) || parseInt(words) // NaN equals nothing
  const change = date && earlier.date && cut(open) === cut(unfinished(date, timeline)) ? earlier.change : null
  return { ...earlier, open, change }
}

const at = (date) => new Date(`${date}T00:00:00Z`)
const LAST = '9999-12-31' // of the days that the API has
const text = (time) => (time.getUTCFullYear() > 9999 ? LAST : time.toISOString().slice(0, 10))

function moved(date, granularity, steps) {
  const time = at(date)
  if (granularity === 'month') time.setUTCMonth(time.getUTCMonth() + steps)
  else time.setUTCDate(time.getUTCDate() + steps * (granularity === 'week' ? 7 : 1))
  return text(time)
}

function firstOf(date, granularity) {
  if (granularity === 'month') return `${date.slice(0, 8)}01`
  return granularity === 'week' ? moved(date, 'day', -((at(date).getUTCDay() + 6) % 7)) : date
}

// daysBetween is how many days the last of two dates is after the first.
export const daysBetween = (first, last) => (at(last) - at(first)) / 86_400_000

const daysIn = (first, last) => Math.max(0, daysBetween(first, last) + 1)
export const least = (...dates) => dates.filter(Boolean).sort()[0]

// slotsOf are the days, weeks or months of a timeline's period, by their first days; and
// null for what only the period has that it is compared with.
export function slotsOf({ period, granularity, data }) {
  const dates = []
  let date = firstOf(period.start_date, granularity)
  while (date <= period.end_date && date !== dates.at(-1)) {
    dates.push(date)
    const next = moved(date, granularity, 1)
    if (next === LAST && granularity !== 'day') break // it was cut, and begins no week or month
    date = next
  }
  // What the server dates outside of the period, or not at all, is shown after it.
  const known = new Set(dates)
  return [...dates, ...data.map((point) => point.date).filter((date) => !known.has(date))]
}

// titleOf names a slot, with what is not whole of it.
export const titleOf = ({ named }, date, open) => named(date) + (open && ` (${open})`)

// unfinished says in words why a slot is not whole, or nothing where it is: the
// period or the days that are held end within it or, of some marketplaces, before it,
// and the newest day still fills.
export function unfinished(date, { period, granularity, upTo, newest }) {
  if (date === null) return ''
  const first = date > period.start_date ? date : period.start_date
  if (upTo < first && first <= newest) return 'not of all marketplaces'
  const last = moved(moved(date, granularity, 1), 'day', -1)
  const held = daysIn(first, least(last, period.end_date, upTo))
  const all = daysIn(date, last)
  if (held < all) return `${held} of ${all} days`
  return upTo === last ? 'not complete yet' : ''
}

// isHeld reports whether a side of a point has figures: a point of which only the
// other side has some shows zeros here, which are none.
const isHeld = (side) => side && FIGURES.some(({ name }) => /[1-9]/.test(side[name]))

// pointsOf are the points of slots; those without a date are told apart by their order.
export function pointsOf(data, slots) {
  const byDate = new Map(data.map((point) => [point.date, point]))
  const undated = data.filter(({ date }) => !date)
  return slots.map((date) => (date ? byDate.get(date) : undated.shift()))
}

// valuesOf are the values of one side of points, null where it has none.
export const valuesOf = (points, sideOf, figure) => points.map((point) => (isHeld(point && sideOf(point)) ? sideOf(point)[figure.name] : null))
