package docs

import (
	"html/template"
	"path"
	"strings"
)

// recipe is a way to get figures into another program: a file of Markdown,
// whose first line is its title ("# ...") and whose next one says in a
// sentence what it is for.
type recipe struct {
	Name, Title, Purpose string
	Text                 template.HTML
}

func readRecipes() ([]recipe, error) {
	entries, err := files.ReadDir("recipes")
	if err != nil {
		return nil, err
	}
	var all []recipe
	for _, e := range entries {
		text, err := files.ReadFile(path.Join("recipes", e.Name()))
		if err != nil {
			return nil, err
		}
		title, rest, _ := strings.Cut(string(text), "\n")
		purpose, _, _ := strings.Cut(strings.TrimSpace(rest), "\n")
		r := recipe{Name: strings.TrimSuffix(e.Name(), ".md"), Title: strings.TrimPrefix(title, "# "), Purpose: purpose}
		if r.Text, err = renderMarkdown(rest); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}
