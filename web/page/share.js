// How a view is shared with people who have no key. Links are made on the command
// line, because the API only reads: the page writes the command.

import { el } from './dom.js'
import { marketplacesFlag, shell } from './recipes.js'
import { write } from './state.js'
import { VIEWS } from './views.js'

// shareButton opens the command that makes a link to the view of a state.
export function shareButton(state, account, copy) {
  if (state.view === 'apps') return null
  const command = el('code', {}, shareCommand(state, account))
  return el('details', { class: 'share', 'data-keep': 'share' },
    el('summary', { class: 'plain' }, 'Share this view'),
    el('div', { class: 'card' },
      el('p', {}, 'People without a key see this view alone, until the link expires or is revoked. The operator of this server makes the link:'),
      el('div', { class: 'snippet' },
        el('button', { class: 'plain copy', onclick: () => copy(command) }, 'Copy'),
        el('pre', { tabindex: 0, 'aria-label': 'The command that makes a share link' }, command))))
}

// shareCommand makes a link that knows the marketplaces that the key knows.
const shareCommand = (state, account) => `adlens share create --account ${shell(account.account_id)} --name ${shell(VIEWS[state.view].title)}`
  + `${marketplacesFlag(account)} --base ${shell(location.origin)} ${shell(write(state))}`
