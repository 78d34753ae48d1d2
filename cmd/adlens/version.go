package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"text/tabwriter"

	"adlens/internal/engine"
	"adlens/internal/metrics"

	"github.com/spf13/cobra"
)

// version and commit are set by release builds.
var (
	version = "dev"
	commit  string
)

// build is what this program was built from.
type build struct {
	Version  string  `json:"version"`
	Commit   *string `json:"commit"` // null where the build did not know
	Go       string  `json:"go"`
	Platform string  `json:"platform"`
	Engine   *string `json:"engine"` // null where the platform has none of its own
}

func thisBuild() build {
	b := build{Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "-" + runtime.GOARCH}
	if known := commitOf(commit); known != "" {
		b.Commit = &known
	}
	if library := engine.LibraryVersion(); library != "" {
		b.Engine = &library
	}
	return b
}

// commitOf returns the commit set by a release build, or else the one recorded by the
// go command, with -dirty where files differed.
func commitOf(told string) string {
	info, ok := debug.ReadBuildInfo()
	if told != "" || !ok {
		return told
	}
	revision, dirty := "", ""
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "vcs.revision":
			revision = setting.Value
		case setting.Key == "vcs.modified" && setting.Value == "true":
			dirty = "-dirty"
		}
	}
	if revision == "" {
		return ""
	}
	return revision + dirty
}

func newVersion(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print what this program was built from",
		Long: `Print the version of adlens, the commit it was built from, the version of Go, the
platform, and the version of the ClickHouse library that is its engine, which is
none where the platform needs --clickhouse. Nothing is opened.

With --json: version, commit, go, platform and engine; commit and engine may be
null. A server shows the same as the metric adlens_build_info.`,
		Example: `  adlens version
  adlens version --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.json {
				return printJSON(cmd.OutOrStdout(), thisBuild())
			}
			return printBuild(cmd.OutOrStdout(), thisBuild())
		},
	}
}

func printBuild(w io.Writer, b build) error {
	engine := "none on this platform: --clickhouse is needed"
	if b.Engine != nil {
		engine = "ClickHouse library " + *b.Engine
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "adlens\t%s\ncommit\t%s\ngo\t%s\nplatform\t%s\nengine\t%s\n", b.Version, orDash(b.Commit), b.Go, b.Platform, engine)
	return table.Flush()
}

// addBuildMetric shows what the server was built from.
func addBuildMetric(m *metrics.Metrics) {
	b := thisBuild()
	of := func(text *string) string {
		if text == nil {
			return ""
		}
		return *text
	}
	m.BuildInfo(map[string]string{"version": b.Version, "commit": of(b.Commit), "goversion": b.Go, "platform": b.Platform, "engine": of(b.Engine)})
}
