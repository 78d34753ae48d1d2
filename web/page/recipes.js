// The request behind a view as other tools write it. Each asks for CSV, whose
// columns are the same as in JSON; the key is a placeholder.

import { address } from './api.js'
import { whole } from './requests.js'

const ids = ['product_id', 'marketplace_id', 'campaign_id', 'ad_group_id', 'rule_id', 'rule_run_id', 'activity_id']

const asCSV = (request) => ({ path: request.path, params: [...request.params, ['format', 'csv']] })

const shell = (text) => `'${text.replaceAll("'", `'\\''`)}'`
const script = (text) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
const m = (text) => `"${text.replaceAll('#(', '#(#)(').replaceAll('"', '""')}"`

function curl(request, origin) {
  return `curl -H 'Authorization: Bearer YOUR_API_KEY' \\\n  ${shell(origin + address(whole(request)))}\n`
}

function sheets(request, origin) {
  return `// Extensions > Apps Script. Put the key into Project Settings > Script
// properties, as ADLENS_KEY; then run refresh, or give it a trigger.
function refresh() {
  const key = PropertiesService.getScriptProperties().getProperty('ADLENS_KEY');
  const address = ${script(origin + address(asCSV(whole(request))))};
  const options = {headers: {Authorization: 'Bearer ' + key}, muteHttpExceptions: true};
  let answer = UrlFetchApp.fetch(address, options);
  if (answer.getResponseCode() === 429) {
    Utilities.sleep(1000 * Math.min(300, Number(answer.getHeaders()['Retry-After'])));
    answer = UrlFetchApp.fetch(address, options);
  }
  if (answer.getResponseCode() !== 200) throw new Error(answer.getContentText());
  const rows = Utilities.parseCsv(answer.getContentText());
  const sheet = SpreadsheetApp.getActiveSheet().clearContents();
  const names = rows[0];
  const texts = /(^|_)(ids?|title|name|summary)$/; // as numbers, ids would lose their last digits
  names.forEach((name, i) => {
    if (texts.test(name)) sheet.getRange(1, i + 1, rows.length).setNumberFormat('@');
  });
  // Left to the sheet, 4.25 would be a date where numbers are written with a comma.
  const value = (name, text) => (texts.test(name) || text === '' || isNaN(text) ? text : Number(text));
  sheet.getRange(1, 1, rows.length, names.length).setValues(rows.map((row) => row.map((cell, i) => value(names[i], cell))));
}
`
}

function powerQuery(request, origin) {
  const { path, params } = asCSV(whole(request))
  const query = params.map(([name, value]) => `#${m(name)} = ${m(value)}`).join(', ')
  return `let
    Key = "YOUR_API_KEY",
    Answer = Web.Contents(${m(origin)}, [
        RelativePath = ${m(path.slice(1))},
        Query = [${query}],
        Headers = [Authorization = "Bearer " & Key]
    ]),
    Rows = Csv.Document(Answer, [Delimiter = ",", Encoding = 65001, QuoteStyle = QuoteStyle.Csv]),
    Named = Table.PromoteHeaders(Rows, [PromoteAllScalars = true]),
    // Ids and what somebody wrote stay texts; all else that reads as a number becomes one.
    Texts = {"id", "ids", "title", "name", "summary"},
    Others = List.Select(Table.ColumnNames(Named), (name) => not List.Contains(Texts, List.Last(Text.Split(name, "_")))),
    Typed = Table.TransformColumns(Named, List.Transform(Others,
        (name) => {name, each if _ = "" then null else try Number.FromText(_, "en-US") otherwise _}))
in
    Typed
`
}

function pandas(request, origin) {
  const types = ids.map((name) => `"${name}": str`).join(', ')
  return `import pandas as pd

table = pd.read_csv(
    ${JSON.stringify(origin + address(asCSV(whole(request))))},
    storage_options={"Authorization": "Bearer YOUR_API_KEY"},
    dtype={${types}},  # a number would lose the last digits
)
print(table)
`
}

// RECIPES are the tools, in the order of their tabs.
export const RECIPES = [
  { name: 'curl', label: 'curl', write: curl },
  { name: 'sheets', label: 'Google Sheets', write: sheets },
  { name: 'powerquery', label: 'Power Query', write: powerQuery },
  { name: 'pandas', label: 'pandas', write: pandas },
]

// FORMATS are the files that a view can be saved as.
export const FORMATS = ['csv', 'xlsx', 'parquet', 'json', 'ndjson']
