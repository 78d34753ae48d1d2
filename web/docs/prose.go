package docs

import (
	"bytes"
	"html/template"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
)

// markdown writes HTML of Markdown; HTML in it is left out.
var markdown = goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))

// renderMarkdown is a text of the document or a recipe as HTML.
func renderMarkdown(text string) (template.HTML, error) {
	var out bytes.Buffer
	err := markdown.Convert([]byte(text), &out)
	return template.HTML(out.String()), err
}

// indentJSON is JSON as people read it.
func indentJSON(value jsontext.Value) (string, error) {
	value = value.Clone()
	err := value.Indent(jsontext.WithIndent("  "))
	return string(value), err
}
