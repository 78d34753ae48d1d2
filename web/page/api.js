// How the API is asked: with the key in the header or below a share link, each answer revalidated by
// its ETag, with patience where the server asks for it, and with an end where
// nothing waits any more.

// Problem is an error that the server explained (RFC 9457).
export class Problem extends Error {
  constructor(status, body) {
    super(body.detail ?? body.title ?? `the server answered with status ${status}`)
    this.status = status
    this.title = body.title ?? 'Error'
    this.code = body.code ?? ''
    this.type = body.type ?? ''
    this.requestId = body.request_id ?? ''
    this.errors = body.errors ?? []
  }
}

// Unreachable is that no answer came at all.
export class Unreachable extends Error {}

// How often a server that is not ready is asked again, and for how long at
// most without its own word.
const TRIES_WHILE_UNREADY = 3
const USUAL_WAIT = 5

// The page leaves a third of the minute's limit to the account's other clients: a
// sheet that refreshes its cells at once is not refused while a user clicks here.
// Of fewer than so many requests there is nothing to share.
const SHARE_LEFT = 1 / 3
const SMALLEST_SHARED = 12

// sendable reports whether a text can stand in a header at all.
export const sendable = (key) => /^[\x21-\x7e]+$/.test(key)

// Api asks with the headers that have the key, or below the address of a share link.
export class Api {
  #headers
  #root
  #free = 0 // when the page may ask again, by performance.now()

  constructor(headers, root = '') {
    this.#headers = headers
    this.#root = root
  }

  // get gives the answer to a request, as an object.
  async get(request, { signal, waiting }) {
    const response = await this.#fetch(request, { signal, waiting })
    return exact(await text(response))
  }

  // file gives an answer to be saved, and its name.
  async file(request, options) {
    const response = await this.#fetch(request, options)
    const named = /filename="([^"]+)"/.exec(response.headers.get('Content-Disposition') ?? '')
    const more = /rel="next"/.test(response.headers.get('Link') ?? '')
    return { blob: await response.blob(), name: named?.[1], truncated: more || response.headers.get('X-Truncated') === 'true' }
  }

  async #fetch(request, { signal, waiting }) {
    for (let tries = 1; ; tries++) {
      const early = Math.ceil((this.#free - performance.now()) / 1000)
      if (early > 0) {
        await pause(early, signal, (left) => waiting(new Problem(0, { detail: 'The rest of the minute\'s limit is left to other clients of the account' }), left))
        waiting(null)
      }
      const response = await this.#once(request, signal)
      this.#free = performance.now() + 1000 * secondsToShare(response.headers)
      if (response.ok) return response
      const problem = new Problem(response.status, await problemBody(response))
      const patient = response.status === 429 || (response.status === 503 && tries < TRIES_WHILE_UNREADY)
      if (!patient) throw problem
      await pause(Number(response.headers.get('Retry-After')) || USUAL_WAIT, signal, (left) => waiting(problem, left))
      waiting(null)
    }
  }

  // A network that changes, as a laptop's does between two rooms, cuts off what is under
  // way: what only reads is asked once more.
  async #once(request, signal) {
    for (let again = !request.method; ; again = false) {
      try {
        return await fetch(this.#root + address(request), {
          method: request.method ?? 'GET', headers: this.#headers, cache: 'no-cache', credentials: 'omit', redirect: 'error', signal,
        })
      } catch (error) {
        if (error.name === 'AbortError') throw error
        if (!again) throw new Unreachable('the server cannot be reached', { cause: error })
      }
    }
  }
}

// secondsToShare is how long the page leaves the rest of the limit to others, after an
// answer with these headers: until there is more than now.
function secondsToShare(headers) {
  const [, quota = 0] = /"minute";q=(\d+)/.exec(headers.get('RateLimit-Policy') ?? '') ?? []
  const [, left, seconds] = /"minute";r=(\d+);t=(\d+)/.exec(headers.get('RateLimit') ?? '') ?? []
  return Number(quota) >= SMALLEST_SHARED && Number(left) <= Number(quota) * SHARE_LEFT ? Number(seconds) : 0
}

// address is the path and query of a request {path, params}; the latter may be left out.
export function address({ path, params }) {
  const query = new URLSearchParams(params).toString()
  return query ? `${path}?${query}` : path
}

async function text(response) {
  try {
    return await response.text()
  } catch (error) {
    throw error.name === 'AbortError' ? error : new Unreachable('the answer was cut off', { cause: error })
  }
}

// exact reads JSON with every number as the text that was sent: what is shown
// has the server's own digits, however many they are.
function exact(json) {
  return JSON.parse(json, (_, value, context) => (typeof value === 'number' ? context?.source ?? String(value) : value))
}

async function problemBody(response) {
  try {
    return await response.json()
  } catch (error) {
    if (error.name === 'AbortError') throw error
    return {}
  }
}

// pause waits for some seconds, and says each how many are left.
function pause(seconds, signal, tell) {
  signal.throwIfAborted()
  return new Promise((resolve, reject) => {
    const end = performance.now() + seconds * 1000
    const finish = (how, value) => {
      clearInterval(clock)
      signal.removeEventListener('abort', stop)
      how(value)
    }
    const stop = () => finish(reject, signal.reason)
    const look = () => {
      const left = Math.ceil((end - performance.now()) / 1000)
      if (left <= 0) finish(resolve)
      else tell(left)
    }
    const clock = setInterval(look, 1000)
    signal.addEventListener('abort', stop)
    look()
  })
}
