// A view's request as other tools write it; the key is a placeholder.

import { address } from './api.js'
import { powerQueryScript } from './powerquery.js'
import { whole } from './requests.js'
import { sheetsScript } from './sheets.js'

// texts are columns that may look like numbers.
const texts = 'title name campaign_name ad_group_name summary product_id marketplace_id campaign_id ad_group_id rule_id rule_run_id last_run_rule_run_id activity_id scope_campaign_ids'.split(' ')

const asCSV = (request) => ({ path: request.path, params: [...request.params, ['format', 'csv']] })

// shell is a text as a word of a POSIX shell.
export const shell = (text) => `'${text.replaceAll("'", `'\\''`)}'`

// isPaged reports whether a request for all rows may have several answers.
const isPaged = ({ params }) => params.some(([name, value]) => name === 'page_size' && value !== 'all')

function curl(request, origin) {
  const all = whole(request)
  if (!isPaged(all)) return `curl -H 'Authorization: Bearer YOUR_API_KEY' --fail-with-body \\\n  ${shell(origin + address(all))}\n`
  return `# Each page has 1,000 rows at most, and its headers name the next one. If a page is
# refused, nothing of its answer is printed, and the exit code is not 0.
SERVER=${shell(origin)}
page=${shell(address(all))}
headers=$(mktemp)
while [ -n "$page" ]; do
  curl -H 'Authorization: Bearer YOUR_API_KEY' --fail --retry 5 --retry-max-time 120 \\
    --dump-header "$headers" "$SERVER$page" || { failed=$?; break; }
  page=$(sed -n 's/^[Ll]ink: <\\([^>]*\\)>; rel="next".*/\\1/p' "$headers")
done
rm "$headers"
[ -z "$page" ] || { echo "rows are missing, from $page on" >&2; (exit "$failed"); }
`
}

const below = (request) => address(request).replace(/^\/api\/v1/, '')

// A sheet is named after its request.
function sheets(request, origin) {
  const name = request.name === 'report' ? `${request.title.toLowerCase()} figures` : request.name
  return sheetsScript(origin, { [`adlens ${name}`]: below(whole(request)) })
}

// marketplacesFlag bounds a link to the marketplaces that the key knows; "" where
// these are all.
export const marketplacesFlag = ({ api_key: { marketplaces } }) => marketplaces ? ` --marketplaces ${shell(marketplaces.join())}` : ''

// feed makes an address that needs no key. Links are made on the server, by its
// operator: the API only reads.
function feed(request, origin, account) {
  const all = whole(request)
  const note = isPaged(all) ? '# A link answers the first 1,000 rows. For more of them, use Google Sheets, Power Query or a script.\n' : ''
  return `${note}# On the server:
adlens feed create --account ${shell(account.account_id)} --name ${shell(request.title)}${marketplacesFlag(account)} \\
  --base ${shell(origin)} \\
  --request ${shell(below(all))}

# In a cell of Google Sheets, with the address that this prints (ids keep 15 digits only):
=IMPORTDATA("${origin}/feed/feed_...")

# The same where decimals are written with a comma:
=IMPORTDATA("${origin}/feed/feed_..."; ","; "en_US")
`
}

function powerQuery(request, origin) {
  const all = asCSV(whole(request))
  return powerQueryScript(origin, 'YOUR_API_KEY', all.path, all.params, isPaged(all))
}

function pandas(request, origin) {
  const types = texts.map((name) => `"${name}": str`).join(', ')
  return `import urllib.request
import pandas as pd

SERVER = ${JSON.stringify(origin)}
page = ${JSON.stringify(address(asCSV(whole(request))))}
parts = []
while page:  # each page names the next one in the header Link
    call = urllib.request.Request(SERVER + page, headers={"Authorization": "Bearer YOUR_API_KEY"})
    with urllib.request.urlopen(call) as answer:
        if answer.headers["X-Truncated"] == "true":
            raise RuntimeError("the server left rows out: choose a shorter period or a filter")
        link = answer.headers["Link"]
        parts.append(pd.read_csv(
            answer, keep_default_na=False, na_values="",
            dtype={${types}},  # a number would lose digits
        ))
    page = link[1:link.index(">")] if link else None
table = pd.concat(parts, ignore_index=True)
print(table)
`
}

export const RECIPES = [
  { name: 'curl', label: 'curl', write: curl },
  { name: 'sheets', label: 'Google Sheets', write: sheets },
  { name: 'feed', label: 'Feed link', write: feed },
  { name: 'powerquery', label: 'Power Query', write: powerQuery },
  { name: 'pandas', label: 'pandas', write: pandas },
]

export const FORMATS = ['csv', 'xlsx', 'parquet', 'json', 'ndjson']
