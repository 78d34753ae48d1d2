package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"adlens/internal/doctor"
)

// colour is how a status looks on a terminal.
var colour = map[doctor.Status]string{doctor.OK: "\x1b[32m", doctor.Warning: "\x1b[33m", doctor.Failed: "\x1b[31m"}

const noColour = "\x1b[0m"

// colourTerminal returns the terminal that shows colours, unless the variable NO_COLOR
// has any value, and else the output as it is.
func colourTerminal(w io.Writer, wish string) (io.Writer, bool) {
	f, terminal := terminalOf(w)
	if !terminal || wish != "" || os.Getenv("TERM") == "dumb" {
		return w, false
	}
	return f, true
}

// findingsTable is a line for each finding, with what to do about it indented
// below, and a line that counts them.
func findingsTable(all []doctor.Finding, coloured bool) string {
	names, accounts := 0, 0
	for _, f := range all {
		names, accounts = max(names, len(f.Check)), max(accounts, len(accountOf(f)))
	}
	var b strings.Builder
	counts := map[doctor.Status]int{}
	for _, f := range all {
		counts[f.Status]++
		status := fmt.Sprintf("%-7s", f.Status)
		if coloured {
			status = colour[f.Status] + status + noColour
		}
		account := ""
		if accounts > 0 {
			account = fmt.Sprintf("  %-*s", accounts, accountOf(f))
		}
		fmt.Fprintf(&b, "%s  %-*s%s  %s\n", status, names, strings.ReplaceAll(f.Check, "_", " "), account, replaceControls(f.Detail))
		if f.Advice != nil {
			fmt.Fprintf(&b, "%*s%s\n", len("warning")+2, "", replaceControls(*f.Advice))
		}
	}
	fmt.Fprintf(&b, "%d ok, %d warnings, %d failed\n", counts[doctor.OK], counts[doctor.Warning], counts[doctor.Failed])
	return b.String()
}

func accountOf(f doctor.Finding) string {
	if f.Account == nil {
		return ""
	}
	return replaceControls(*f.Account)
}
