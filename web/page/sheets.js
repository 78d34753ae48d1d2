// The script for Google Sheets: the same on the page, for a view, and in
// /docs/recipes/google-sheets, for two sheets to begin with. Only the address
// and the requests differ.

const quoted = (text) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

// sheetsScript writes the script. tables are the names of sheets, each with its
// request below /api/v1.
export const sheetsScript = (server, tables) => `const SERVER = ${quoted(server)};

// The sheets that this script owns, each with the request that fills it. It
// touches no other sheet, and nothing to the right of its tables.
const TABLES = {
${Object.entries(tables).map(([name, request]) => `  ${quoted(name)}: ${quoted(request)},`).join('\n')}
};
${REST}`

const REST = String.raw`
// Columns that stay text: ids, which as numbers would lose their last digits,
// and names; and columns of days.
const TEXTS = /(^|_)(ids?|title|name|summary|time)$/;
const DAYS = /(^|_)(date|week|month)$/;

function onOpen() {
  SpreadsheetApp.getUi().createMenu('adlens')
    .addItem('Refresh', 'refresh')
    .addItem('Read everything again', 'refreshAll')
    .addSeparator()
    .addItem('Enter the key', 'enterKey')
    .addItem('Refresh every morning', 'schedule')
    .addItem('Stop refreshing every morning', 'unschedule')
    .addToUi();
}

function enterKey() {
  const ui = SpreadsheetApp.getUi();
  const answer = ui.prompt('adlens', 'The API key (key_live_...)', ui.ButtonSet.OK_CANCEL);
  if (answer.getSelectedButton() !== ui.Button.OK) return;
  PropertiesService.getScriptProperties().setProperty('ADLENS_KEY', answer.getResponseText().trim());
}

function schedule() {
  unschedule();
  ScriptApp.newTrigger('refresh').timeBased().everyDays(1).atHour(7).create();
}

function unschedule() {
  ScriptApp.getProjectTriggers()
    .filter((trigger) => trigger.getHandlerFunction() === 'refresh')
    .forEach((trigger) => ScriptApp.deleteTrigger(trigger));
}

function refresh() {
  alone(update);
}

function refreshAll() {
  alone((name) => {
    PropertiesService.getScriptProperties().setProperty(stateOf(name), JSON.stringify({ names: held(name).names }));
    update(name);
  });
}

// alone does work for each sheet, unless another refresh is running. A sheet that
// fails stops no other: its error is thrown at the end.
function alone(work) {
  const lock = LockService.getDocumentLock();
  if (!lock.tryLock(1000)) throw new Error('Another refresh is running.');
  const errors = [];
  for (const name of Object.keys(TABLES)) {
    try {
      work(name);
    } catch (error) {
      errors.push(name + ': ' + error.message);
    }
  }
  lock.releaseLock();
  if (errors.length) throw new Error(errors.join('\n'));
}

// held is what a sheet shows: its request, the ETag of that answer, and the
// names of its columns.
const stateOf = (name) => 'ADLENS_SHEET ' + name;

function held(name) {
  return { names: [], ...JSON.parse(PropertiesService.getScriptProperties().getProperty(stateOf(name)) || '{}') };
}

// update fills a sheet, unless it shows the current answer already. The ETag is
// forgotten before the sheet changes and kept after: an interrupted run is repeated.
function update(name) {
  const properties = PropertiesService.getScriptProperties();
  const book = SpreadsheetApp.getActiveSpreadsheet();
  const request = TABLES[name];
  const before = held(name);
  let sheet = book.getSheetByName(name);
  const answer = read(request, sheet && before.request === request ? before.etag : '');
  if (!answer) return;
  sheet = sheet || book.insertSheet(name);
  const names = answer.rows[0];
  const most = names.length > before.names.length ? names : before.names;
  properties.setProperty(stateOf(name), JSON.stringify({ names: most }));
  write(sheet, answer.rows, before.names);
  SpreadsheetApp.flush();
  properties.setProperty(stateOf(name), JSON.stringify({ request, etag: answer.etag, names }));
}

// read returns the rows of all pages of an answer, names first, or nothing if
// the answer is still the one with that ETag.
function read(request, etag) {
  const rows = [];
  let next = request + (request.includes('?') ? '&' : '?') + 'format=csv';
  let newest = '';
  while (next) {
    const answer = ask(next, rows.length ? '' : etag);
    if (answer.getResponseCode() === 304) return null;
    if (header(answer, 'X-Truncated') === 'true') throw new Error('The server left rows out. Use a shorter period or a filter: ' + request);
    const link = header(answer, 'Link').match(/<([^>]*)>;\s*rel="next"/);
    newest = rows.length || link ? '' : header(answer, 'ETag'); // it speaks for one page
    Utilities.parseCsv(answer.getContentText()).slice(rows.length ? 1 : 0).forEach((row) => rows.push(row));
    next = link ? link[1].replace(/^.*\/api\/v1/, '') : '';
  }
  return { rows, etag: newest };
}

// ask sends a request, and repeats it where the server says to wait.
function ask(request, etag) {
  const key = PropertiesService.getScriptProperties().getProperty('ADLENS_KEY');
  if (!key) throw new Error('There is no key yet: choose "Enter the key" in the menu "adlens".');
  const headers = { Authorization: 'Bearer ' + key };
  if (etag) headers['If-None-Match'] = etag;
  for (let attempt = 0; attempt < 5; attempt++) {
    const answer = UrlFetchApp.fetch(SERVER + '/api/v1' + request, { headers, muteHttpExceptions: true });
    const code = answer.getResponseCode();
    if (code === 200 || code === 304) return answer;
    const wait = Number(header(answer, 'Retry-After') || 0);
    if ((code !== 429 && code !== 503) || wait > 60) throw new Error(code + ': ' + answer.getContentText());
    Utilities.sleep(1000 * Math.max(1, wait));
  }
  throw new Error('The server was busy five times: ' + request);
}

function header(answer, name) {
  const headers = answer.getAllHeaders();
  const found = Object.keys(headers).find((each) => each.toLowerCase() === name.toLowerCase());
  return found ? String(headers[found]) : '';
}

// write puts rows into a sheet and clears what is left of an earlier, larger
// table. before are the names of its columns.
function write(sheet, rows, before) {
  const names = rows[0];
  const height = rows.length;
  const width = names.length;
  const wide = Math.max(width, before.length);
  if (sheet.getMaxRows() < height) sheet.insertRowsAfter(sheet.getMaxRows(), height - sheet.getMaxRows());
  if (sheet.getMaxColumns() < wide) sheet.insertColumnsAfter(sheet.getMaxColumns(), wide - sheet.getMaxColumns());
  const all = sheet.getMaxRows();
  if (names.join() !== before.join()) sheet.getRange(1, 1, all, wide).clearFormat();
  names.forEach((column, i) => {
    if (TEXTS.test(column)) sheet.getRange(1, i + 1, all).setNumberFormat('@');
    if (DAYS.test(column)) sheet.getRange(1, i + 1, all).setNumberFormat('yyyy-mm-dd');
  });
  const values = rows.map((row) => row.map((cell, i) => value(names[i], cell)));
  sheet.getRange(1, 1, height, width).setValues(values);
  if (all > height) sheet.getRange(height + 1, 1, all - height, width).clearContent();
  if (wide > width) sheet.getRange(1, width + 1, all, wide - width).clearContent();
  sheet.setFrozenRows(1);
}

// value converts numbers. The sheet itself would read 4.25 as a date where
// decimals are written with a comma. A cell holds 50,000 characters.
function value(column, text) {
  if (text.length > 50000) return text.slice(0, 49900) + ' [cut: a cell holds 50000 characters; the API has all]';
  return TEXTS.test(column) || text === '' || isNaN(text) ? text : Number(text);
}
`
