// The chart of a timeline: one figure over days, weeks or months. A day without a
// figure is a gap and no zero. It is one stop of the keyboard; the arrows go
// from day to day, and say each.

import { day, month, shortDay, shown, tick } from './figures.js'
import { el, svg } from './dom.js'

const MEASURES = ['spend', 'sales', 'impressions', 'clicks', 'purchases']
const HEIGHT = 260
const EDGE = { top: 14, right: 24, bottom: 28, left: 62 }
const ROOM_FOR_LABEL = { day: 66, month: 84 } // pixels between labels of the time axis

// chart draws a figure of a timeline answer.
export function chart(timeline, figure) {
  const slots = slotsOf(timeline)
  const values = valuesOf(timeline, slots, (point) => point, figure)
  const earlier = valuesOf(timeline, slots, (point) => point.comparison, figure)
  const named = timeline.granularity === 'month' ? month : day
  const tip = el('div', { class: 'tip', hidden: true })
  const picture = svg('svg', { class: 'chart', 'aria-hidden': 'true', height: HEIGHT })
  const box = el('div', {
    class: 'chartbox', tabindex: 0, role: 'slider', 'data-keep': 'chart', 'aria-label': `${figure.label} by ${timeline.granularity}`,
    'aria-valuemin': 0, 'aria-valuemax': slots.length - 1,
  }, picture, tip)
  const words = (i) => `${named(slots[i])}: ${values[i] === null ? 'no figure' : shown(figure, values[i])}` +
    (earlier[i] === null ? '' : `, before ${shown(figure, earlier[i])}`)
  const model = { slots, values, earlier, figure, words, monthly: timeline.granularity === 'month' }
  follow(box, picture, tip, model)
  return box
}

// slotsOf are all days, weeks or months of the period, with figures or without.
function slotsOf({ period, granularity, data }) {
  const dates = []
  const at = new Date(`${granularity === 'month' ? period.start_date.slice(0, 8) + '01' : period.start_date}T00:00:00Z`)
  if (granularity === 'week') at.setUTCDate(at.getUTCDate() - (at.getUTCDay() + 6) % 7) // its Monday
  const end = new Date(`${period.end_date}T00:00:00Z`)
  while (at <= end) {
    dates.push(at.toISOString().slice(0, 10))
    if (granularity === 'month') at.setUTCMonth(at.getUTCMonth() + 1)
    else at.setUTCDate(at.getUTCDate() + (granularity === 'week' ? 7 : 1))
  }
  // What the server dates outside of the period is shown behind it.
  return [...new Set([...dates, ...data.map((point) => point.date)])]
}

// valuesOf are the values of one side of a comparison, null where it has none.
function valuesOf({ data }, slots, sideOf, figure) {
  const byDate = new Map(data.map((point) => [point.date, held(sideOf(point)) ? sideOf(point)[figure.name] : null]))
  return slots.map((date) => byDate.get(date) ?? null)
}

// held tells whether a side of a point has figures: a point of which only the
// other side has some shows zeros here, which are none.
const held = (side) => side && MEASURES.some((name) => /[1-9]/.test(side[name]))

// follow keeps the picture as wide as its place, and the mark where the pointer
// or the keyboard is.
function follow(box, picture, tip, model) {
  let chosen = lastHeld(model.values)
  let width = 0
  const mark = (i, showing) => {
    chosen = Math.max(0, Math.min(model.slots.length - 1, i))
    box.setAttribute('aria-valuenow', chosen)
    box.setAttribute('aria-valuetext', model.words(chosen))
    tip.hidden = !showing
    tip.textContent = model.words(chosen)
    if (width) place(picture, tip, model, chosen, width, showing)
  }
  new ResizeObserver(([entry]) => {
    width = Math.floor(entry.contentRect.width)
    if (width > EDGE.left + EDGE.right) draw(picture, model, width)
    mark(chosen, !tip.hidden)
  }).observe(box)
  box.addEventListener('pointermove', (event) => mark(nearest(event.clientX - box.getBoundingClientRect().left, model, width), true))
  box.addEventListener('pointerleave', () => mark(chosen, document.activeElement === box))
  box.addEventListener('focus', () => mark(chosen, true))
  box.addEventListener('blur', () => mark(chosen, false))
  box.addEventListener('keydown', (event) => {
    const to = { ArrowLeft: chosen - 1, ArrowDown: chosen - 1, ArrowRight: chosen + 1, ArrowUp: chosen + 1, Home: 0, End: model.slots.length - 1 }[event.key]
    if (to === undefined) return
    event.preventDefault()
    mark(to, true)
  })
  mark(chosen, false)
}

const lastHeld = (values) => Math.max(0, values.findLastIndex((value) => value !== null))

const across = (i, { slots }, width) => {
  const room = width - EDGE.left - EDGE.right
  return EDGE.left + (slots.length === 1 ? room / 2 : (room * i) / (slots.length - 1))
}

const nearest = (x, { slots }, width) => Math.round(((x - EDGE.left) / (width - EDGE.left - EDGE.right)) * (slots.length - 1)) || 0

function heights({ values, earlier }) {
  const known = [...values, ...earlier].filter((value) => value !== null).map(Number)
  const ticks = ticksTo(Math.max(0, ...known))
  const top = ticks.at(-1)
  return { ticks, up: (value) => HEIGHT - EDGE.bottom - (Number(value) / top) * (HEIGHT - EDGE.top - EDGE.bottom) }
}

// ticksTo are round steps from 0 to a little above the greatest value.
function ticksTo(greatest) {
  const rough = (greatest || 1) / 4
  const unit = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 2.5, 5, 10].map((n) => n * unit).find((size) => size >= rough)
  return Array.from({ length: Math.max(1, Math.ceil((greatest || 1) / step)) + 1 }, (_, i) => step * i)
}

function draw(picture, model, width) {
  picture.setAttribute('width', width)
  picture.setAttribute('viewBox', `0 0 ${width} ${HEIGHT}`)
  const scale = heights(model)
  picture.replaceChildren(
    ...scale.ticks.map((value) => svg('g', { class: 'rule' },
      svg('line', { x1: EDGE.left, x2: width - EDGE.right, y1: scale.up(value), y2: scale.up(value) }),
      svg('text', { x: EDGE.left - 8, y: scale.up(value) + 4, 'text-anchor': 'end' }, tick(model.figure, value)))),
    ...labels(model, width),
    ...lines(model.earlier, model, scale, width, 'earlier'),
    ...areas(model, scale, width),
    ...lines(model.values, model, scale, width, 'now'),
  )
}

function labels(model, width) {
  const most = Math.max(2, Math.floor((width - EDGE.left - EDGE.right) / ROOM_FOR_LABEL[model.monthly ? 'month' : 'day']))
  const every = Math.ceil(model.slots.length / most)
  const named = model.monthly ? month : shortDay
  return model.slots.map((date, i) => (i % every ? null
    : svg('text', { x: across(i, model, width), y: HEIGHT - 8, 'text-anchor': 'middle' }, named(date)))).filter(Boolean)
}

// runs are the stretches without a gap, as lists of places.
function runs(values) {
  const found = []
  values.forEach((value, i) => {
    if (value === null) return
    if (i > 0 && values[i - 1] !== null) found.at(-1).push(i)
    else found.push([i])
  })
  return found
}

const path = (run, values, model, scale, width) => run.map((i) => `${across(i, model, width).toFixed(1)},${scale.up(values[i]).toFixed(1)}`).join(' ')

function lines(values, model, scale, width, name) {
  return runs(values).map((run) => (run.length === 1
    ? svg('circle', { class: `dot ${name}`, cx: across(run[0], model, width), cy: scale.up(values[run[0]]), r: 3 })
    : svg('polyline', { class: `line ${name}`, points: path(run, values, model, scale, width) })))
}

function areas(model, scale, width) {
  const ground = HEIGHT - EDGE.bottom
  return runs(model.values).filter((run) => run.length > 1).map((run) => svg('polygon', {
    class: 'area',
    points: `${across(run[0], model, width)},${ground} ${path(run, model.values, model, scale, width)} ${across(run.at(-1), model, width)},${ground}`,
  }))
}

// place puts the mark and its words at a slot.
function place(picture, tip, model, i, width, showing) {
  picture.querySelectorAll('.mark').forEach((old) => old.remove())
  if (!showing) return
  const x = across(i, model, width)
  picture.append(svg('line', { class: 'mark', x1: x, x2: x, y1: EDGE.top, y2: HEIGHT - EDGE.bottom }))
  if (model.values[i] !== null) picture.append(svg('circle', { class: 'mark dot now', cx: x, cy: heights(model).up(model.values[i]), r: 4.5 }))
  const room = tip.offsetWidth
  tip.style.left = `${Math.max(0, Math.min(width - room, x - room / 2))}px`
}
