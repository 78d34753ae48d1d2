// Command bundled says what a release of adlens bundles: the notices of all of it,
// and its parts as a CycloneDX document. `make release` runs it.
//
//	bundled -program adlens [-engine] -notices NOTICES -parts adlens.cdx.json
//
// Notices are the licence files of each module that the program was built from, as
// the module cache has them, and of Go; with -engine also those that the ClickHouse
// library itself lists of all that was linked into it (its table system.licenses).
// The document is that of cyclonedx-gomod, to which the library is added.
package main

import (
	"context"
	"debug/buildinfo"
	"flag"
	"fmt"
	"os"

	"adlens/internal/engine"
)

func main() {
	engine.RunIfAsked("bundled")
	program := flag.String("program", "", "the program, as it was built")
	withEngine := flag.Bool("engine", false, "the ClickHouse library is bundled too")
	notices := flag.String("notices", "", "file of notices to write")
	parts := flag.String("parts", "", "CycloneDX document of the program, to complete")
	flag.Parse()
	if err := run(context.Background(), *program, *withEngine, *notices, *parts); err != nil {
		fmt.Fprintln(os.Stderr, "bundled:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, program string, withEngine bool, notices, parts string) error {
	built, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	all, err := moduleNotices(built)
	if err != nil {
		return err
	}
	if withEngine {
		of, err := engineNotices(ctx)
		if err != nil {
			return err
		}
		all = append(all, of...)
	}
	if err := os.WriteFile(notices, writeNotices(all), 0o644); err != nil {
		return err
	}
	return completeParts(parts, withEngine)
}
