// A browser asks for each module once. Where one was lost on its way, as when a laptop
// changes its network, the page has no program: it is loaded once more.
addEventListener('error', ({ target }) => {
  if (target.type === 'module' && performance.getEntriesByType('navigation')[0].type !== 'reload') setTimeout(() => location.reload(), 2000)
}, true)
