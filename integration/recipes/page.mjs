// Prints what the page offers for a tool: node page.mjs TOOL ORIGIN PATH [TITLE
// [ACCOUNT]], where PATH is a request with its query. The documentation's scripts are the same ones:
// node page.mjs sheets-script SERVER TABLES prints that of the recipe.
import { RECIPES } from '../../web/page/recipes.js'
import { sheetsScript } from '../../web/page/sheets.js'

const [tool, origin, path, title = 'Figures', account = 'acme'] = process.argv.slice(2)
if (tool === 'sheets-script') {
  process.stdout.write(sheetsScript(origin, JSON.parse(path)))
} else {
  const { pathname, searchParams } = new URL(path, origin)
  const name = { 'reports/products': 'report' }[pathname.slice('/api/v1/'.length)] ?? pathname.slice('/api/v1/'.length)
  process.stdout.write(RECIPES.find((recipe) => recipe.name === tool).write({ name, title, path: pathname, params: [...searchParams] }, origin, account))
}
