package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"adlens"
	"adlens/internal/commits"
	"adlens/internal/platform"
	"adlens/loader"

	"github.com/spf13/cobra"
)

func newLoad(o *options) *cobra.Command {
	var account, profile, generatedAt string
	cmd := &cobra.Command{
		Use:   "load --account ID PATH...",
		Short: "Load extract files and directories",
		Long: `Load extract files, and directories with all that is below them, but nothing that
leads down to what was fetched for another account.

A file's name says what it is:

  profiles.json                     the account's marketplaces
  X.report.json + X.json.gz         a completed report and its download (or X.json)
  rates.csv                         date,currency,usd
  eurofxref-hist.csv, eurofxref.csv rates of the European Central Bank (or .zip)
  products.csv                      product_id,title
  X.export.json + X.json.gz         a completed export of campaigns, ad groups or ads
  rules.ndjson, rule_runs.ndjson,
  activity.ndjson                   records, one JSON object a line
  *.csv, *.xlsx                     reports downloaded from the advertising console

Whatever the order of the arguments, profiles are loaded first, then rates,
products, reports, exports, legacy reports and records. A bad file is refused, with
its row, field and value and what was expected; the others are still loaded, and the
exit code is not 0. Loading a file again changes nothing. A running server shows the
new figures at once. New profiles that another account has already are loaded, and a
notice names them: no load removes a profile.

Of the console these reports are taken, each with the time unit Daily: Sponsored
Products and Sponsored Display "Advertised product", Sponsored Brands "Campaign".
Their columns tell which one it is, in English, German, Spanish, Italian, Japanese
or Chinese; other reports of the console and empty files are refused, and other
tables skipped. A report replaces the days from its first row to its last. It is of
the account's only profile of its currency and country; where there are several, or
it does not say them, --profile says which. It was generated when --generated-at
says, else when the workbook says, else at the time of the file. A notice says what
it was taken for. Loading a copy of it again changes nothing.

On a terminal a line tells how far it is; elsewhere a line does every ten
seconds. With --json it prints account_id and files[], of which each has file, status
(loaded, unchanged, refused, skipped, failed), rows and error, and a notice where
there is one.`,
		Example: `  adlens load --account acme extracts/
  adlens load --account acme profiles.json rates.csv november.report.json`,
		Args: someArguments("PATH"),
		RunE: func(cmd *cobra.Command, paths []string) error {
			return o.withDatabase(cmd.Context(), func(d *data) error {
				o.noteEngine(cmd, d)
				if _, err := d.requireAccount(cmd.Context(), account); err != nil {
					return err
				}
				at, err := parseGeneratedAt(generatedAt, time.Now())
				if err != nil {
					return err
				}
				if err := o.requireOwnFiles(account, paths); err != nil {
					return err
				}
				result, err := d.loadFiles(cmd.Context(), account, paths, o.newProgress(cmd.ErrOrStderr()), profile, at)
				return o.printLoadResult(cmd, account, result, err)
			})
		},
	}
	cmd.Flags().StringVar(&account, "account", "", "the account that the files are of (needed)")
	cmd.Flags().StringVar(&profile, "profile", "", "the id of the profile that the console's reports are of")
	cmd.Flags().StringVar(&generatedAt, "generated-at", "", "when the console's reports were generated, like 2026-11-20T10:24:00Z")
	cmd.MarkFlagRequired("account")
	return cmd
}

// requireOwnFiles makes sure that the paths do not lead down to what was fetched for another
// account, or made up for the demo, and have no such files beside those of others: they would be
// taken for this account's, with their profiles, and profiles are never removed. One such
// directory is the user's own choice: what was fetched can be loaded anywhere.
func (o *options) requireOwnFiles(account string, paths []string) error {
	entries, _ := os.ReadDir(o.extractsDir()) // where it is missing nothing was fetched
	owners := map[string]string{filepath.Join(o.dataDir, demoExtracts): demoAccount}
	for _, e := range entries {
		if e.IsDir() {
			owners[filepath.Join(o.extractsDir(), e.Name())] = e.Name()
		}
	}
	var met, others []string
	isAbove := false // another account's files
	for _, dir := range slices.Sorted(maps.Keys(owners)) {
		leads, isOther := false, owners[dir] != account
		for _, path := range paths {
			kept, err := resolvePath(dir)
			given, missing := resolvePath(path)
			if err != nil || missing != nil { // what cannot be found is the loader's to refuse
				continue
			}
			above := given != kept && isWithin(kept, given)
			leads, isAbove = leads || above || isWithin(given, kept), isAbove || above && isOther
		}
		if leads {
			met = append(met, dir)
		}
		if leads && isOther {
			others = append(others, dir)
		}
	}
	if isAbove || len(others) > 0 && len(met) > 1 {
		return fmt.Errorf("nothing was loaded: the paths %s lead to %s, whose files are another account's; give the files of account %s alone (those that were fetched for it are in %s)",
			strings.Join(paths, " "), others[0], account, filepath.Join(o.extractsDir(), account))
	}
	return nil
}

// resolvePath returns the one path of a file or directory, without links.
func resolvePath(path string) (string, error) {
	path, err := filepath.Abs(path) // which may have links: those of the current directory
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// isWithin reports whether a path is a directory, or below it.
func isWithin(path, dir string) bool {
	below, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(below)
}

// parseGeneratedAt reads --generated-at; the zero time where it is not given.
func parseGeneratedAt(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	at, err := platform.ParseTime(text)
	if err != nil {
		return at, fmt.Errorf("--generated-at is %q, expected a time with its zone like 2026-11-20T10:24:00Z, of the years 1970 to 2261", text)
	}
	if loader.IsFuture(at, now) {
		return at, fmt.Errorf("--generated-at is %s, more than a day in the future; expected when the reports were generated", text)
	}
	return at, nil
}

// loadFiles loads files; profile and generatedAt are what the console's reports do
// not say themselves.
func (d *data) loadFiles(ctx context.Context, account string, paths []string, p *progress, profile string, generatedAt time.Time) (loader.Result, error) {
	defer p.endProgress()
	// What is garbage while reports are summed is worth more collecting than
	// waiting: a load should fit beside what else a laptop does.
	defer debug.SetGCPercent(debug.SetGCPercent(loadGCPercent))
	defer runtime.KeepAlive(make([]byte, loadGCFloor))
	l := d.newLoader(p)
	l.Profile, l.GeneratedAt, l.Whole = profile, generatedAt, true
	return l.Load(ctx, account, paths)
}

// newLoader returns the loader of the database.
func (d *data) newLoader(p loader.Progress) *loader.Loader {
	return &loader.Loader{Store: d.LoadStore(d.locker), Progress: p}
}

// loadGCPercent is how much the heap of a load may grow between collections.
const loadGCPercent = 50

// loadGCFloor is memory that is reserved, counts for the collector as in use, and is never
// touched. A load of a few reports has so little in use that it would collect at every
// two megabytes, which takes a third of its time.
const loadGCFloor = 16 << 20

// printLoadResult reports what became of each file.
func (o *options) printLoadResult(cmd *cobra.Command, account string, result loader.Result, err error) error {
	printTrouble(cmd.ErrOrStderr(), result)
	var printing error
	if o.json {
		if result.Files == nil {
			result.Files = []loader.FileResult{}
		}
		printing = printJSON(cmd.OutOrStdout(), struct {
			Account string `json:"account_id"`
			loader.Result
		}{account, result})
	} else {
		_, printing = fmt.Fprintln(cmd.OutOrStdout(), describeCounts(account, result))
	}
	if printing != nil && err == nil {
		return explainDone(describeCounts(account, result), printing)
	}
	if printing != nil { // explainError and explainFullDisk would call a full disk the data's
		return errors.Join(explainError(err), advice{fmt.Errorf("the result of the load could not be printed: %w", printing)})
	}
	if err == nil && result.Refused() > 0 {
		return errSaid
	}
	return explainError(err)
}

// explainError adds to an error what a person can do about it, unless it says so.
func explainError(err error) error {
	if _, says := errors.AsType[advice](err); says {
		return err
	}
	unknown := errors.Is(err, commits.ErrUnknown)
	switch kind := adlens.KindOf(err); {
	case unknown && kind == adlens.DiskFull:
		return advice{fmt.Errorf("the disk is full: free some space, and load the failed files again: a file that is there already is reported as unchanged; what was there is unharmed (%w)", err)}
	case unknown:
		return fmt.Errorf("%w; what was there is unharmed. Load the failed files again: a file that is there already is reported as unchanged", err)
	case kind == adlens.Damaged:
		return fmt.Errorf("stored data is damaged, and a load would build on it: nothing of the failed files was made visible; restore a backup in its place: adlens restore --from PLACE --account ID (%w)", err)
	case kind == adlens.DiskFull:
		return advice{fmt.Errorf("the disk is full: nothing of the failed files was made visible, what was there is unharmed; free some space and load again (%w)", err)}
	}
	return err
}

// printTrouble names what needs attention. Files that failed did so for the
// one reason that ended the load, which is reported once, at the end.
func printTrouble(trouble io.Writer, result loader.Result) {
	for _, f := range result.Files {
		switch f.Status {
		case loader.Skipped:
			fmt.Fprintf(trouble, "%s: skipped: %s\n", quoteName(f.File), replaceControls(f.Notice))
		case loader.Failed:
			fmt.Fprintf(trouble, "%s: failed\n", quoteName(f.File))
		case loader.Refused, loader.Waiting:
			fmt.Fprintf(trouble, "%s: %s: %s\n", quoteName(f.File), f.Status, replaceControls(*f.Error))
		}
	}
}

// describeCounts says what became of how many files.
func describeCounts(account string, result loader.Result) string {
	counts, rows := map[loader.Status]int{}, 0
	for _, f := range result.Files {
		counts[f.Status]++
		rows += f.Rows
	}
	others := ""
	for _, status := range []loader.Status{loader.Failed, loader.Waiting} {
		if n := counts[status]; n > 0 {
			others += fmt.Sprintf("%d %s, ", n, status)
		}
	}
	return fmt.Sprintf("%d loaded, %d unchanged, %d refused, %s%d skipped; %d rows read for account %s",
		counts[loader.Loaded], counts[loader.Unchanged], counts[loader.Refused], others, counts[loader.Skipped], rows, account)
}

// quoteName quotes names that would do something to a terminal.
func quoteName(name string) string {
	if utf8.ValidString(name) && !strings.ContainsFunc(name, unicode.IsControl) {
		return name
	}
	return strconv.Quote(name)
}

// replaceControls takes out of a text, which may repeat a file's values, what would do
// something to a terminal.
func replaceControls(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}
