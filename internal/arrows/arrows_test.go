// Package arrows holds the rules that the build enforces on all rooms.
package arrows

import (
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// room is a package as the go command lists it.
type room struct {
	ImportPath string
	Dir        string
	Imports    []string
	GoFiles    []string
}

// arrows says which rooms of the project each room may import. An arrow that
// is not here is refused; adding one is a decision about the house.
var arrows = map[string][]string{
	"adlens":                       {"adlens/internal/exact"},
	"adlens/internal/exact":        {},
	"adlens/schema":                {},
	"adlens/internal/query/period": {"adlens"},
	"adlens/internal/manifest":     {"adlens"},
	"adlens/internal/tables":       {"adlens/internal/manifest"},
	"adlens/internal/commits":      {"adlens", "adlens/internal/flight", "adlens/internal/manifest", "adlens/internal/tables"},
	"adlens/internal/records":      {"adlens", "adlens/internal/catalogue", "adlens/internal/platform"},
	"adlens/internal/query": {"adlens", "adlens/internal/catalogue", "adlens/internal/exact", "adlens/internal/flight", "adlens/internal/lru",
		"adlens/internal/manifest", "adlens/internal/query/period", "adlens/internal/records", "adlens/internal/platform"},
	"adlens/internal/auth":             {"adlens", "adlens/internal/recent"},
	"adlens/internal/platform":         {"adlens", "adlens/internal/catalogue"},
	"adlens/internal/platform/console": {"adlens", "adlens/internal/catalogue", "adlens/internal/platform"},
	"adlens/internal/platform/api":     {"adlens", "adlens/internal/platform"},
	"adlens/internal/ecb":              {"adlens", "adlens/internal/catalogue", "adlens/internal/platform"},
	"adlens/internal/ecb/api":          {"adlens/internal/ecb"},
	"adlens/internal/secret":           {},
	"adlens/internal/connector":        {"adlens", "adlens/internal/ecb", "adlens/internal/query/period", "adlens/internal/recent", "adlens/internal/secret", "adlens/loader", "adlens/internal/platform", "adlens/internal/platform/api"},
	"adlens/loader": {"adlens", "adlens/internal/catalogue", "adlens/internal/commits", "adlens/internal/ecb", "adlens/internal/exact", "adlens/internal/flight", "adlens/internal/manifest",
		"adlens/internal/records", "adlens/internal/tables", "adlens/internal/platform", "adlens/internal/platform/console"},
	"adlens/internal/engine":  {},
	"adlens/deploy/bundled":   {"adlens/internal/engine"},
	"adlens/internal/flight":  {"adlens"},
	"adlens/internal/recent":  {"adlens/internal/flight", "adlens/internal/lru"},
	"adlens/internal/lru":     {},
	"adlens/internal/demo":    {"adlens", "adlens/internal/made", "adlens/internal/platform"},
	"adlens/internal/metrics": {},
	"adlens/internal/redis":   {"adlens/internal/auth"},
	"adlens/internal/backup":  {"adlens", "adlens/internal/manifest", "adlens/internal/tables"},
	"adlens/internal/moves": {"adlens", "adlens/internal/backup", "adlens/internal/commits", "adlens/internal/flight", "adlens/internal/lru", "adlens/internal/manifest",
		"adlens/internal/recent", "adlens/internal/tables"},
	"adlens/internal/clickhouse/conn":      {"adlens", "adlens/internal/engine", "adlens/internal/exact", "adlens/internal/query", "adlens/internal/tables"},
	"adlens/internal/clickhouse/directory": {"adlens", "adlens/internal/clickhouse/conn", "adlens/internal/commits", "adlens/internal/query", "adlens/internal/tables"},
	"adlens/internal/clickhouse/schema":    {"adlens", "adlens/internal/clickhouse/conn", "adlens/internal/clickhouse/directory", "adlens/internal/query", "adlens/schema"},
	"adlens/internal/clickhouse/cluster": {"adlens", "adlens/internal/clickhouse/conn", "adlens/internal/clickhouse/directory", "adlens/internal/clickhouse/schema",
		"adlens/internal/moves", "adlens/internal/query", "adlens/internal/recent", "adlens/internal/tables"},
	"adlens/internal/clickhouse/tables": {"adlens", "adlens/internal/clickhouse/cluster", "adlens/internal/clickhouse/conn", "adlens/internal/commits",
		"adlens/internal/manifest", "adlens/internal/query", "adlens/internal/tables"},
	"adlens/internal/clickhouse/integrity": {"adlens", "adlens/internal/clickhouse/cluster", "adlens/internal/clickhouse/conn",
		"adlens/internal/clickhouse/directory", "adlens/internal/clickhouse/tables", "adlens/internal/commits",
		"adlens/internal/manifest", "adlens/internal/query", "adlens/internal/tables"},
	"adlens/internal/clickhouse/loads": {"adlens", "adlens/internal/catalogue", "adlens/internal/clickhouse/cluster", "adlens/internal/clickhouse/conn",
		"adlens/internal/flight", "adlens/internal/manifest", "adlens/internal/query", "adlens/internal/records", "adlens/internal/tables",
		"adlens/loader", "adlens/internal/platform"},
	"adlens/internal/clickhouse/figures": {"adlens", "adlens/internal/clickhouse/cluster", "adlens/internal/clickhouse/conn",
		"adlens/internal/exact", "adlens/internal/manifest", "adlens/internal/query", "adlens/internal/recent", "adlens/internal/records",
		"adlens/loader", "adlens/internal/platform"},
	"adlens/internal/clickhouse/accounts": {"adlens", "adlens/internal/auth", "adlens/internal/clickhouse/cluster", "adlens/internal/clickhouse/conn",
		"adlens/internal/clickhouse/directory", "adlens/internal/manifest", "adlens/internal/query", "adlens/loader", "adlens/internal/platform"},
	"adlens/internal/clickhouse/copies": {"adlens", "adlens/internal/backup", "adlens/internal/clickhouse/cluster", "adlens/internal/clickhouse/conn",
		"adlens/internal/clickhouse/directory", "adlens/internal/clickhouse/loads", "adlens/internal/clickhouse/schema", "adlens/internal/clickhouse/tables",
		"adlens/internal/commits", "adlens/internal/manifest", "adlens/internal/moves", "adlens/internal/query", "adlens/internal/tables", "adlens/loader"},
	"adlens/internal/clickhouse/audit": {"adlens", "adlens/internal/catalogue", "adlens/internal/clickhouse/cluster", "adlens/internal/clickhouse/conn", "adlens/internal/clickhouse/directory", "adlens/internal/clickhouse/loads", "adlens/internal/manifest",
		"adlens/internal/clickhouse/schema", "adlens/internal/query", "adlens/internal/tables", "adlens/loader"},
	"adlens/internal/clickhouse": {"adlens/internal/clickhouse/accounts", "adlens/internal/clickhouse/audit",
		"adlens/internal/clickhouse/cluster", "adlens/internal/clickhouse/conn", "adlens/internal/clickhouse/copies", "adlens/internal/clickhouse/figures",
		"adlens/internal/clickhouse/integrity", "adlens/internal/clickhouse/loads", "adlens/internal/clickhouse/tables", "adlens/internal/moves", "adlens/loader"},
	"adlens/docs":     {"adlens/internal/catalogue"},
	"adlens/web":      {},
	"adlens/web/page": {},
	"adlens/web/docs": {"adlens", "adlens/docs", "adlens/internal/catalogue", "adlens/internal/query/period", "adlens/web"},
	"adlens/internal/http": {"adlens", "adlens/docs", "adlens/internal/answer", "adlens/internal/assistant", "adlens/internal/auth", "adlens/internal/oauth", "adlens/internal/catalogue", "adlens/internal/flight", "adlens/internal/lru", "adlens/internal/query",
		"adlens/internal/query/period", "adlens/web", "adlens/web/docs", "adlens/web/page"},
	"adlens/internal/simulation": {"adlens", "adlens/internal/auth", "adlens/internal/backup", "adlens/internal/catalogue", "adlens/internal/commits", "adlens/internal/exact",
		"adlens/internal/manifest", "adlens/internal/moves", "adlens/internal/recent", "adlens/internal/records", "adlens/internal/tables", "adlens/loader", "adlens/internal/platform"},
	"adlens/internal/doctor": {"adlens", "adlens/internal/auth", "adlens/internal/clickhouse", "adlens/internal/clickhouse/audit", "adlens/internal/clickhouse/schema",
		"adlens/internal/commits", "adlens/internal/connector", "adlens/internal/engine", "adlens/internal/manifest", "adlens/internal/redis", "adlens/internal/tables",
		"adlens/internal/platform", "adlens/loader"},
	"adlens/bench": {"adlens", "adlens/internal/catalogue", "adlens/integration/model", "adlens/internal/clickhouse", "adlens/internal/clickhouse/conn", "adlens/internal/engine",
		"adlens/internal/exact", "adlens/internal/made", "adlens/internal/query", "adlens/internal/platform"},
	"adlens/cmd/adlens": {"adlens", "adlens/internal/answer", "adlens/internal/assistant", "adlens/internal/auth", "adlens/internal/oauth", "adlens/internal/backup", "adlens/internal/clickhouse",
		"adlens/internal/clickhouse/audit", "adlens/internal/clickhouse/cluster", "adlens/internal/clickhouse/conn", "adlens/internal/clickhouse/schema",
		"adlens/internal/commits", "adlens/internal/connector", "adlens/internal/demo", "adlens/internal/doctor", "adlens/internal/ecb/api", "adlens/internal/engine", "adlens/internal/http",
		"adlens/internal/metrics", "adlens/internal/query", "adlens/internal/redis", "adlens/internal/secret", "adlens/loader", "adlens/internal/platform", "adlens/internal/platform/api"},
	"adlens/internal/formats": {},
	"adlens/internal/answer": {"adlens", "adlens/internal/auth", "adlens/internal/catalogue", "adlens/internal/flight", "adlens/internal/formats",
		"adlens/internal/lru", "adlens/internal/manifest", "adlens/internal/query", "adlens/internal/recent", "adlens/internal/records"},
	"adlens/internal/assistant": {"adlens", "adlens/internal/answer", "adlens/internal/auth", "adlens/internal/catalogue", "adlens/internal/query"},
	"adlens/internal/oauth":     {"adlens", "adlens/internal/auth", "adlens/internal/flight", "adlens/internal/lru"},
	"adlens/internal/catalogue": {"adlens"},
	"adlens/internal/made":      {"adlens", "adlens/internal/platform"},
}

// keepers says which rooms alone may import a module.
var keepers = map[string][]string{
	"github.com/gin-gonic/gin":            {"adlens/internal/http"},
	"github.com/ClickHouse/":              {"adlens/internal/clickhouse/conn"},
	"github.com/spf13/":                   {"adlens/cmd/adlens"},
	"github.com/ebitengine/purego":        {"adlens/internal/engine"},
	"github.com/creack/pty":               {"adlens/internal/engine"},
	"github.com/go-playground/validator/": {"adlens/internal/query"},
	"go.uber.org/zap":                     {"adlens/cmd/adlens", "adlens/internal/http"},
	"github.com/redis/":                   {"adlens/internal/redis"},
	"github.com/parquet-go/":              {"adlens/internal/formats"},
	"github.com/prometheus/":              {"adlens/internal/metrics"},
	"github.com/minio/":                   {"adlens/internal/backup"},
	"github.com/yuin/goldmark/":           {"adlens/web/docs"},
	"github.com/modelcontextprotocol/":    {"adlens/internal/assistant", "adlens/internal/http", "adlens/internal/oauth", "adlens/cmd/adlens"},
	"github.com/goccy/go-yaml":            {"adlens/docs"},
	"github.com/santhosh-tekuri/":         {},
	"github.com/testcontainers/":          {},
	"github.com/moby/":                    {},
	"net/http":                            {"adlens/bench", "adlens/deploy/bundled", "adlens/internal/engine", "adlens/internal/http", "adlens/internal/metrics", "adlens/internal/ecb/api", "adlens/internal/oauth", "adlens/internal/platform/api"},
}

func rooms(t *testing.T) []room {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Dir,Imports,GoFiles", "adlens/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []room
	decoder := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var r room
		err := decoder.Decode(&r)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		// The tests' own rooms know everything by design: from outside.
		if !strings.HasPrefix(r.ImportPath, "adlens/integration") && len(r.GoFiles) > 0 {
			all = append(all, r)
		}
	}
}

func TestArrowsPointOneWay(t *testing.T) {
	for _, r := range rooms(t) {
		allowed, known := arrows[r.ImportPath]
		if !known {
			t.Errorf("%s is a new room: say in arrows what it may import", r.ImportPath)
		}
		for _, imported := range r.Imports {
			if (imported == "adlens" || strings.HasPrefix(imported, "adlens/")) && !slices.Contains(allowed, imported) {
				t.Errorf("%s imports %s, which is no arrow of the house (docs/design.md)", r.ImportPath, imported)
			}
		}
	}
}

func TestTechnologyStaysInItsRoom(t *testing.T) {
	for _, r := range rooms(t) {
		for _, imported := range r.Imports {
			for module, rooms := range keepers {
				if within(imported, module) && !slices.Contains(rooms, r.ImportPath) {
					t.Errorf("%s imports %s, which belongs to %v alone", r.ImportPath, imported, rooms)
				}
			}
		}
	}
}

func within(imported, module string) bool {
	module = strings.TrimSuffix(module, "/")
	return imported == module || strings.HasPrefix(imported, module+"/")
}

func TestEveryRoomSaysWhatItIsFor(t *testing.T) {
	for _, r := range rooms(t) {
		documented := false
		for _, file := range r.GoFiles {
			parsed, err := parser.ParseFile(token.NewFileSet(), r.Dir+"/"+file, nil, parser.PackageClauseOnly|parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			documented = documented || parsed.Doc != nil
		}
		if !documented {
			t.Errorf("%s has no package comment", r.ImportPath)
		}
	}
}
