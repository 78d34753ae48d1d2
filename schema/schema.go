// Package schema holds the tables of adlens as ordered .sql files, each with
// what its tables mean. The files are applied in the order of their numbers
// (internal/clickhouse/schema runs them); every statement may run twice and in two
// processes at once. A file that was released is never edited: a change of
// the schema is a new file.
package schema

import (
	"embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

//go:embed *.sql
var files embed.FS

// Migration is one numbered step of the schema.
type Migration struct {
	Number     uint32
	Name       string // the file's
	Statements []string
}

// Migrations returns all steps in order.
func Migrations() ([]Migration, error) {
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return nil, err
	}
	steps := make([]Migration, len(names))
	for i, name := range names {
		if steps[i], err = read(name); err != nil {
			return nil, err
		}
		if int(steps[i].Number) != i+1 {
			return nil, fmt.Errorf("schema: %s does not follow step %d", name, i)
		}
	}
	return steps, nil
}

func read(name string) (Migration, error) {
	digits, _, _ := strings.Cut(name, "_")
	number, err := strconv.ParseUint(digits, 10, 32)
	if err != nil {
		return Migration{}, fmt.Errorf("schema: %s has no number: %w", name, err)
	}
	text, err := files.ReadFile(name)
	if err != nil {
		return Migration{}, err
	}
	return Migration{Number: uint32(number), Name: name, Statements: statements(string(text))}, nil
}

// statements takes a file apart at the semicolons that end a line.
func statements(text string) []string {
	var all []string
	for _, part := range strings.Split(text, ";\n") {
		if part = strings.TrimSpace(part); part != "" {
			all = append(all, part)
		}
	}
	return all
}
