// How elements are made. Texts are always set as texts, so nothing that comes
// from an account can become markup.

const SVG = 'http://www.w3.org/2000/svg'

// el makes an element: el('td', {class: 'n', onclick: f}, 'text', child, null).
export function el(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children)
}

export function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children)
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if ((value ?? false) === false) continue
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value)
    else node.setAttribute(name, value === true ? '' : value)
  }
  node.append(...children.flat(Infinity).filter((child) => (child ?? false) !== false))
  return node
}

export const byId = (id) => document.getElementById(id)

// redraw replaces what is in a place. The focus stays on what has the same data-keep,
// for users of a keyboard: else on a button next to one that is off now, or on the
// heading. A search that is being typed goes on.
export function redraw(place, ...nodes) {
  const focused = place.contains(document.activeElement) && document.activeElement
  place.replaceChildren(...nodes.flat(Infinity).filter(Boolean))
  if (!focused) return
  const same = place.querySelector(`[data-keep="${CSS.escape(focused.dataset.keep ?? '')}"]`)
  const on = same?.disabled ? same.parentNode.querySelector('button:enabled') : same
  const to = on ?? place.querySelector('h1')
  to?.focus({ preventScroll: true })
  if (same?.type !== 'search') return
  if (focused.value !== focused.defaultValue) same.value = focused.value
  same.setSelectionRange(focused.selectionStart, focused.selectionEnd)
}

// hidden is a text for screen readers alone.
export const hidden = (text) => el('span', { class: 'hidden' }, text)

export const option = (value, text, chosen) => el('option', { value, selected: value === chosen }, text)

// unhurried passes on what was chosen last: what a user is still ticking, or passes by
// with the arrows of the keyboard, is not requested.
export function unhurried(choose) {
  let later
  return (value) => {
    clearTimeout(later)
    later = setTimeout(choose, 500, value) // and what else is chosen meanwhile draws the control as it was
  }
}

// select is a choice among [value, text] pairs.
export function select(name, options, chosen, choose, later = unhurried(choose)) {
  return el('select', { 'data-keep': name, onchange: ({ target }) => later(target.value) }, options.map(([value, text]) => option(value, text, chosen)))
}

export function labelled(text, control) {
  return el('label', { class: 'field' }, el('span', {}, text), control)
}
