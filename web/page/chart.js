// The chart of a timeline: a figure over days, weeks or months, or what it is made
// of, and a second figure with an axis of its own. A day without a figure is a gap
// and no zero. It is one stop of the keyboard; the arrows go from day to day, and
// say each, as does a touch.

import { changed, shown } from './figures.js'
import { draw, geometryOf, HEIGHT, place } from './drawing.js'
import { el, svg } from './dom.js'
import { bucketOf, pointsOf, slotsOf, titleOf, unfinished, valuesOf } from './slots.js'

// chart draws a figure of a timeline. second is another figure, and partsOf gives,
// for slots, what the first is made of: {label, values}.
export function chart(timeline, figure, { second, partsOf }) {
  const model = modelOf(timeline, figure, { second, partsOf })
  const tip = el('div', { class: 'tip', hidden: true })
  const picture = svg('svg', { class: 'chart', 'aria-hidden': 'true', height: HEIGHT })
  const box = el('div', {
    class: 'chartbox', tabindex: 0, role: 'slider', 'data-keep': 'chart', 'aria-label': model.series.map(({ figure: { label } }) => label).join(' and ') + ` by ${timeline.granularity}`,
    'aria-valuemin': 0, 'aria-valuemax': model.slots.length - 1,
  }, picture, tip)
  follow(box, picture, tip, model)
  return box
}

function modelOf(timeline, figure, { second, partsOf }) {
  const slots = slotsOf(timeline)
  const points = pointsOf(timeline.data, slots)
  const seriesOf = (of) => ({
    figure: of,
    values: valuesOf(points, (point) => point, of),
    earlier: valuesOf(points, (point) => point.comparison, of),
  })
  return {
    slots, series: [figure, second].filter(Boolean).map(seriesOf), parts: partsOf?.(slots),
    bucket: bucketOf(timeline.granularity, slots), currency: timeline.currency,
    unfinished: slots.map((date) => unfinished(date, timeline)),
    comparisons: points.map((point) => point?.comparison),
  }
}

// lines are the words for a slot: its name, then each figure with its parts, and
// what it was in the slot compared with.
function lines({ slots, series, parts, bucket, currency, unfinished: open, comparisons }, i) {
  const said = [{ text: titleOf(bucket, slots[i], open[i]) }]
  series.forEach(({ figure, values, earlier }, which) => {
    said.push({ looks: which ? 'second' : parts ? undefined : 'now', text: `${figure.label} ${values[i] === null ? 'no figure' : shown(figure, values[i], currency)}` })
    const of = comparisons[i]
    if (of?.date && earlier[i] !== null) {
      said.push({ looks: which ? undefined : 'earlier', text: `${titleOf(bucket, of.date, of.open)} ${shown(figure, earlier[i], currency)}, change ${changed(figure, of.change?.[figure.name], currency)}` })
    }
    for (const [n, { label, values: part }] of which ? [] : (parts ?? []).entries()) {
      if (part?.[i]) said.push({ looks: `part-${n}`, text: `${label} ${shown(figure, part[i], currency)}` })
    }
  })
  return said
}

// follow keeps the picture as wide as its place, and the mark where the pointer,
// the finger or the keyboard is.
function follow(box, picture, tip, model) {
  let chosen = Math.max(0, model.series[0].values.findLastIndex((value) => value !== null))
  let geometry = null
  const mark = (i, showing) => {
    chosen = Math.max(0, Math.min(model.slots.length - 1, i))
    const [head, ...rest] = lines(model, chosen)
    box.setAttribute('aria-valuenow', chosen)
    box.setAttribute('aria-valuetext', `${head.text}: ${rest.map(({ text }) => text).join('; ')}`)
    tip.hidden = !showing
    tip.replaceChildren(el('strong', {}, head.text), ...rest.map(({ looks, text }) => el('span', {}, looks && el('i', { class: `key ${looks}` }), text)))
    if (geometry) place(picture, tip, model, geometry, chosen, showing)
  }
  new ResizeObserver(([entry]) => {
    geometry = geometryOf(model, Math.floor(entry.contentRect.width))
    if (geometry) draw(picture, model, geometry)
    mark(chosen, !tip.hidden)
  }).observe(box)
  const point = (event) => geometry && mark(geometry.nearest(event.clientX - box.getBoundingClientRect().left), true)
  // A touch that does not move is no pointermove, and has the focus only afterwards.
  box.addEventListener('pointerdown', point)
  box.addEventListener('pointermove', point)
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
