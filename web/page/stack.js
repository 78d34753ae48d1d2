// What a figure is made of, by marketplace or ad type, as the stacked chart shows it.

import { adType } from './figures.js'
import { pointsOf, valuesOf } from './slots.js'

// STACKS are the dimensions that a chart can be stacked by: their words, the elements
// of a summary whose order they have, and what names an element.
export const STACKS = {
  marketplace: { label: 'Marketplace', elements: 'by_marketplace', id: (of) => of.marketplace_id, name: (of) => of.marketplace },
  ad_product: { label: 'Ad type', elements: 'by_ad_product', id: (of) => of.ad_product, name: (of) => adType(of.ad_product) },
}

// MOST are the parts that are told apart by colour, the others together as one.
const MOST = 7

// isStackable reports whether a figure is the sum of its parts: a ratio is not.
export const isStackable = (figure) => figure.means === undefined

// stacked gives the parts of a figure for slots, the largest spend first: {label,
// values, sizes}. The others have sizes alone, as the page adds no figures up.
export function stacked(timeline, summary, stack, figure) {
  const { elements, id, name } = STACKS[stack]
  const all = summary[elements]
  const isTwin = (of) => all.filter((other) => name(other) === name(of)).length > 1
  return (slots) => {
    const parts = all.map((of) => {
      const values = valuesOf(pointsOf(timeline.data.filter((row) => id(row) === id(of)), slots), (row) => row, figure)
      return { label: isTwin(of) ? `${name(of)} ${id(of)}` : name(of), values, sizes: values.map(Number) }
    })
    const rest = parts.splice(parts.length > MOST + 1 ? MOST : parts.length)
    if (rest.length) parts.push({ label: `${rest.length} others`, sizes: slots.map((_, i) => rest.reduce((sum, { sizes }) => sum + sizes[i], 0)) })
    return parts
  }
}
