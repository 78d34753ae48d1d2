// The part below each view: the request behind it for other tools, and its
// answer as a file.

import { el, labelled, redraw, select } from './dom.js'
import { address } from './api.js'
import { FORMATS, RECIPES } from './recipes.js'
import { whole } from './requests.js'

// elsewhere makes the part. save(request, format) gives a file's blob and name;
// account is the account with the key that reads it.
export function elsewhere(place, save, say, account) {
  const chosen = { request: '', recipe: 'curl' }
  let requests = []
  const request = () => requests.find(({ name }) => name === chosen.request) ?? requests[0]

  const draw = () => {
    place.hidden = requests.length === 0
    if (place.hidden) return
    const recipe = RECIPES.find(({ name }) => name === chosen.recipe)
    redraw(place,
      el('h2', { id: 'elsewhere-title' }, 'Use these figures elsewhere'),
      el('p', { class: 'muted' }, 'This page asks the same public API. ', el('code', { class: 'address' }, `GET ${address(request())}`)),
      el('div', { class: 'row' }, which(), files(), sheet()),
      recipes(),
      el('div', { class: 'snippet' },
        el('button', { class: 'plain copy', 'data-keep': 'copy', onclick: () => copy(place.querySelector('pre'), say) }, 'Copy'),
        el('pre', { tabindex: 0, 'aria-label': `The request for ${recipe.label}` }, el('code', {}, recipe.write(request(), location.origin, account)))))
  }

  const which = () => requests.length > 1 && labelled('Answer', select('which', requests.map(({ name, title }) => [name, title]), request().name, null,
    (name) => { chosen.request = name; draw() })) // at once, without a request

  const files = () => el('div', { class: 'field', role: 'group', 'aria-label': 'Download' }, el('span', {}, 'Download'),
    el('div', { class: 'buttons' }, FORMATS.map((format) => el('button', {
      class: 'plain', 'data-keep': `save-${format}`, onclick: () => download(request(), format),
    }, format))))

  const sheet = () => el('div', { class: 'field' }, el('span', {}, 'Follow'),
    el('button', { class: 'plain', 'data-keep': 'to-sheets', onclick: toSheets }, 'Google Sheets'))

  // toSheets shows and copies the script that keeps a sheet in step.
  const toSheets = async () => {
    chosen.recipe = 'sheets'
    draw()
    await copy(place.querySelector('pre'), (text) => say(`${text} In Google Sheets choose Extensions, Apps Script, paste it there, save, and reload the sheet: its menu "adlens" does the rest.`))
  }

  const recipes = () => el('fieldset', { class: 'segments' }, el('legend', { class: 'hidden' }, 'Tool'),
    RECIPES.map(({ name, label }) => el('label', {},
      el('input', { type: 'radio', name: 'recipe', value: name, 'data-keep': `recipe-${name}`, checked: name === chosen.recipe, onchange: () => { chosen.recipe = name; draw() } }), label)))

  const download = async (asked, format) => {
    say(`Fetching ${asked.title} as ${format} …`)
    try {
      const all = whole(asked)
      const file = await save({ ...all, params: [...all.params, ['format', format]] })
      keep(file.blob, file.name ?? `${asked.name}.${format}`)
      say(file.truncated ? 'Saved, but the server left rows out: there are more than it gives at once.' : `Saved as ${format}.`)
    } catch (error) {
      if (error.name !== 'AbortError') say(`Not saved: ${error.message}`, error)
    }
  }

  return { show(now) { requests = now; draw() } }
}

function keep(blob, name) {
  const at = URL.createObjectURL(blob)
  const link = el('a', { href: at, download: name, hidden: true })
  document.body.append(link)
  link.click()
  link.remove()
  setTimeout(() => URL.revokeObjectURL(at), 60_000)
}

// copy puts a text into the clipboard. Without a safe context there is none,
// and the text is marked for the reader to copy.
export async function copy(node, say) {
  try {
    await navigator.clipboard.writeText(node.textContent)
    say('Copied.')
  } catch {
    getSelection().selectAllChildren(node)
    node.closest('pre').focus()
    say('The text is marked: copy it with Ctrl+C.')
  }
}
