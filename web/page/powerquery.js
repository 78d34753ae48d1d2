// The query for Power Query: the same on the page, for a view, and in
// /docs/recipes/excel, for products. Only the server, the key and the request
// differ. A column's type follows from its name, also of figures that are added.

import { FIGURES } from './figures.js'
import { AMOUNTS } from './measures.js'

const text = (value) => `"${value.replaceAll('#(', '#(#)(').replaceAll('"', '""')}"`

const field = ([name, value]) => (/^[a-z_]+$/.test(name) ? `${name} = ${text(value)}` : `#${text(name)} = ${text(value)}`)

// powerQueryScript writes the query of a path with parameters, pairs of texts. paged
// is for answers that come in pages.
export const powerQueryScript = (server, key, path, params, paged) => `let
    Server = ${text(server)},
    Key = ${text(key)},
    ${paged ? pages(path, params) : `Answer = ${table(path, params, '')},
    ${WHOLE}`},
${TYPES}`

// What an answer has at most, and what would be left out of it without a word.
const WHOLE = 'Named = if Table.RowCount(Answer) > 99999 then error "The server gives 100,000 rows at once. Choose a shorter period or a filter." else Answer'

const table = (path, params, more) => `Table.PromoteHeaders(Csv.Document(
        Web.Contents(Server, [
            RelativePath = ${text(path.slice(1))},
            Query = [${[...params.map(field), ...(more ? [more] : [])].join(', ')}],
            Headers = [Authorization = "Bearer " & Key]
        ]),
        [Delimiter = ",", Encoding = 65001, QuoteStyle = QuoteStyle.Csv]), [PromoteAllScalars = true])`

// A page without rows is the end.
const pages = (path, params) => `Page = (number) => ${table(path, params, 'page = Text.From(number)')},
    Pages = List.Generate(
        () => [number = 1, rows = Page(1)],
        each [number] = 1 or Table.RowCount([rows]) > 0,
        each [number = [number] + 1, rows = Page([number] + 1)],
        each [rows]),
    Named = Table.Combine(Pages)`

// list is a list of texts, in lines that can be read.
const list = (names) => `{${names.map(text).join(', ').replace(/(.{90}[^,]*,) /g, '$1\n        ')}}`

const figures = (kind) => FIGURES.filter((figure) => figure.kind === kind).map(({ name }) => name)

const TYPES = `    // The type of each column, by its name or its last word. Amounts have exact
    // decimals. Bids and budgets, which may have more than the four of Currency.Type,
    // are numbers of 15 digits, as ratios are. Ids stay text: numbers would lose their
    // last digits.
    Amounts = ${list([...figures('money'), ...AMOUNTS])},
    Counts = ${list([...figures('count'), 'changed', 'last_run_changed'])},
    Texts = {"id", "ids", "title", "name", "summary", "section", "marketplace", "marketplaces", "product", "code", "timezone", "state",
        "targeting", "type", "provenance", "status", "frequency", "time", "tool", "currency", "changes"},
    Type = (name) =>
        let Last = List.Last(Text.Split(name, "_")), Figure = Text.Replace(name, "comparison_", "") in
        if List.Contains(Amounts, Figure) then Currency.Type
        else if List.Contains(Counts, Figure) or Text.StartsWith(name, "counts_") or Text.StartsWith(name, "looked_at_") then Int64.Type
        else if List.Contains({"date", "week", "month"}, Last) then type date
        else if Last = "at" then type datetimezone
        else if List.Contains(Texts, Last) then type text
        else type number,
    Names = Table.ColumnNames(Named),
    Nulls = Table.ReplaceValue(Named, "", null, Replacer.ReplaceValue, Names),
    Typed = Table.TransformColumnTypes(Nulls, List.Transform(Names, (name) => {name, Type(name)}), "en-US")
in
    Typed
`
