// Where the key is kept between loads: in the tab, or on the device where its user
// says so. It is no cookie, so that nothing but the page sends it.

const NAME = 'adlens-key'

// A browser that is told to keep nothing throws; the key is in memory alone then.
function attempt(use) {
  try {
    return use()
  } catch {
    return null
  }
}

// kept is the key that is kept for this tab, or on this device.
export const kept = () => attempt(() => sessionStorage.getItem(NAME) ?? localStorage.getItem(NAME))

// isOnDevice reports where the kept key is.
export const isOnDevice = () => attempt(() => !sessionStorage.getItem(NAME))

// keep keeps a key in one place alone. One in the tab leaves another one on the device
// to the tabs that use it.
export function keep(key, onDevice) {
  discard(onDevice ? undefined : key)
  attempt(() => (onDevice ? localStorage : sessionStorage).setItem(NAME, key))
}

// discard removes the key from both places, or only where it is that one: other tabs
// may use another.
export function discard(key) {
  const drop = (from) => (key === undefined || from.getItem(NAME) === key) && from.removeItem(NAME)
  attempt(() => drop(sessionStorage))
  attempt(() => drop(localStorage))
}

// whenDiscarded tells that another tab signed out, unless this one has a key of its own.
export const whenDiscarded = (tell) => addEventListener('storage', ({ key }) => (key === NAME || key === null) && !kept() && tell())
