// How a chart is drawn: axes, lines, stacked bars, and the mark. What is not whole
// is dashed or hatched. Only here are figures floats: as positions.

import { svg } from './dom.js'
import { tick } from './figures.js'

export const HEIGHT = 260
const TIP = 12 // pixels between the mark and its words
const EDGE = { top: 14, right: 24, bottom: 28, left: 62 }

// geometryOf says where slots and values are in a picture of a width, or nothing
// where there is no room.
export function geometryOf({ slots, series, parts }, width) {
  const right = series.length > 1 ? EDGE.left : EDGE.right
  const room = width - EDGE.left - right
  if (room <= 0) return null
  const band = room / slots.length
  const banded = parts || slots.length === 1 // bars need room at both ends
  const nearest = (x) => Math.round(banded ? (x - EDGE.left) / band - 0.5 : ((x - EDGE.left) / room) * (slots.length - 1))
  return {
    width, band, end: width - right,
    across: (i) => EDGE.left + (banded ? band * (i + 0.5) : (room * i) / (slots.length - 1)),
    nearest: (x) => Math.max(0, Math.min(slots.length - 1, nearest(x))),
    scales: scalesOf(series),
  }
}

const ground = HEIGHT - EDGE.bottom

// scalesOf are an axis for each figure, with steps at the same heights.
function scalesOf(series) {
  // Amounts and ratios have two decimals at an axis, and counts none.
  const step = ({ figure }, rough) => stepOf(rough, figure.kind === 'count' ? 1 : 0.01)
  const greatest = series.map(({ values, earlier }) => Math.max(0, ...[...values, ...earlier].filter((value) => value !== null).map(Number)) || 1)
  const steps = Math.ceil(greatest[0] / step(series[0], greatest[0] / 4))
  return greatest.map((most, i) => {
    const size = step(series[i], most / steps)
    const up = (value) => ground - (Number(value) / (size * steps)) * (ground - EDGE.top)
    return { ticks: Array.from({ length: steps + 1 }, (_, n) => size * n), up }
  })
}

// stepOf is the round number that is not below another, in whole parts of the least one.
function stepOf(rough, least) {
  if (rough <= least) return least
  const unit = 10 ** Math.floor(Math.log10(rough))
  const isWhole = (n) => Math.abs(n - Math.round(n)) < 1e-6
  return [1, 2, 2.5, 5, 10].map((n) => n * unit).find((size) => size >= rough && isWhole(size / least))
}

export function draw(picture, model, geometry) {
  picture.setAttribute('width', geometry.width)
  picture.setAttribute('viewBox', `0 0 ${geometry.width} ${HEIGHT}`)
  const [first, second] = model.series
  const [left, right] = geometry.scales
  const line = (values, { up }, name, open = model.unfinished) => lines(values, open, geometry, up, name)
  picture.replaceChildren(...[
    hatch(), ...axes(model, geometry), ...labels(model, geometry),
    ...(model.parts ? bars(model, geometry, left.up) : areas(first.values, model.unfinished, geometry, left.up)),
    ...line(first.earlier, left, 'earlier', model.comparisons.map((of) => of?.open)),
    ...(model.parts ? [] : line(first.values, left, 'now')),
    ...(second ? line(second.values, right, 'second') : []),
  ].filter(Boolean))
}

const hatch = () => svg('defs', {}, svg('pattern', { id: 'hatch', width: 6, height: 6, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' },
  svg('rect', { class: 'gap', width: 3, height: 6 })))

function axes({ series, currency }, { scales: [left, right], end }) {
  return left.ticks.map((value, i) => svg('g', { class: 'rule' },
    svg('line', { x1: EDGE.left, x2: end, y1: left.up(value), y2: left.up(value) }),
    svg('text', { x: EDGE.left - 8, y: left.up(value) + 4, 'text-anchor': 'end' }, tick(series[0].figure, value, currency)),
    right && svg('text', { class: 'second', x: end + 8, y: left.up(value) + 4 }, tick(series[1].figure, right.ticks[i], currency))))
}

function labels({ slots, bucket: { short, room } }, { across, end }) {
  const most = Math.max(2, Math.floor((end - EDGE.left) / room))
  const every = Math.ceil(slots.length / most)
  return slots.map((date, i) => i % every === 0 && svg('text', { x: across(i), y: HEIGHT - 8, 'text-anchor': 'middle' }, short(date)))
}

// runs are the stretches without a gap, each cut into pieces that are whole or not:
// {at: places, open}. Pieces of a run share the place where they meet.
function runs(values, unfinished) {
  const found = []
  values.forEach((value, i) => {
    if (value === null) return
    const open = Boolean(unfinished[i])
    if (i === 0 || values[i - 1] === null) return found.push([{ at: [i], open }])
    const run = found.at(-1)
    const piece = run.at(-1)
    const joint = open || Boolean(unfinished[i - 1])
    if (piece.at.length === 1) piece.open = joint
    if (piece.open === joint) piece.at.push(i)
    else run.push({ at: [i - 1, i], open: joint })
  })
  return found.flat()
}

const path = (at, values, across, up) => at.map((i) => `${across(i).toFixed(1)},${up(values[i]).toFixed(1)}`).join(' ')

function lines(values, open, { across }, up, name) {
  const dot = (i) => svg('circle', { class: `dot ${name}${open[i] ? ' unfinished' : ''}`, cx: across(i), cy: up(values[i]), r: 3 })
  return [
    ...runs(values, open).map(({ at, open: dashed }) => (at.length === 1 ? dot(at[0])
      : svg('polyline', { class: `line ${name}${dashed ? ' unfinished' : ''}`, points: path(at, values, across, up) }))),
    ...values.map((value, i) => value !== null && open[i] && dot(i)),
  ]
}

function areas(values, unfinished, { across }, up) {
  return runs(values, unfinished).filter(({ at }) => at.length > 1).flatMap(({ at, open }) => {
    const points = `${across(at[0])},${ground} ${path(at, values, across, up)} ${across(at.at(-1))},${ground}`
    return [svg('polygon', { class: 'area', points }), open && svg('polygon', { fill: 'url(#hatch)', points })]
  })
}

function bars({ slots, parts, unfinished }, { across, band }, up) {
  const width = Math.max(0.5, band * (band > 5 ? 0.8 : 1))
  return slots.flatMap((_, i) => {
    const x = across(i) - width / 2
    let top = 0
    const stack = parts.map(({ sizes }, n) => {
      const from = up(top)
      top += sizes[i]
      return sizes[i] > 0 && svg('rect', { class: `part-${n}${band > 5 ? ' apart' : ''}`, x, width, y: up(top), height: from - up(top) })
    })
    return [...stack, top > 0 && unfinished[i] && svg('rect', { class: 'unfinished', fill: 'url(#hatch)', x, width, y: up(top), height: ground - up(top) })]
  })
}

export function place(picture, tip, { series, parts }, { across, scales, width }, i, showing) {
  picture.querySelectorAll('.mark').forEach((old) => old.remove())
  if (!showing) return
  const x = across(i)
  picture.append(svg('line', { class: 'mark', x1: x, x2: x, y1: EDGE.top, y2: ground }))
  series.forEach(({ values }, which) => {
    if (values[i] === null || (parts && which === 0)) return
    picture.append(svg('circle', { class: `mark dot ${which ? 'second' : 'now'}`, cx: x, cy: scales[which].up(values[i]), r: 4.5 }))
  })
  const room = tip.offsetWidth
  const beside = x > width / 2 ? x - room - TIP : x + TIP
  tip.style.left = `${Math.max(0, Math.min(width - room, beside))}px`
}
