package main

import (
	"bytes"
	"cmp"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"adlens/internal/engine"
)

// notice is a text, and what it is about.
type notice struct{ about, text string }

// noticeFile are the names of files that have licences or notices.
var noticeFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents|copyright|unlicense)([-._].*)?$`)

// moduleNotices returns the notices of Go and of all modules of a program. A module
// without any is an error: it could not be shipped.
func moduleNotices(built *buildinfo.BuildInfo) (all []notice, err error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	if all, err = noticesBelow(strings.TrimSpace(string(root)), "Go "+strings.TrimPrefix(built.GoVersion, "go"), false); err != nil {
		return nil, err
	}
	arguments := []string{"mod", "download", "-json"}
	for _, module := range built.Deps {
		if module.Replace != nil {
			return nil, fmt.Errorf("%s is replaced by %s, whose notices are not looked for", module.Path, module.Replace.Path)
		}
		arguments = append(arguments, module.Path+"@"+module.Version)
	}
	listed, err := exec.Command("go", arguments...).Output()
	if err != nil {
		return nil, fmt.Errorf("go mod download: %w", err)
	}
	for decoder := json.NewDecoder(bytes.NewReader(listed)); ; {
		var module struct{ Path, Version, Dir string }
		if err := decoder.Decode(&module); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		of, err := noticesBelow(module.Dir, module.Path+" "+module.Version, true)
		if err != nil {
			return nil, err
		}
		all = append(all, of...)
	}
}

// noticesBelow returns the notices in a directory, and in those below it.
func noticesBelow(dir, about string, deep bool) (all []notice, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != dir && (!deep || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || !noticeFile.MatchString(d.Name()) || filepath.Ext(d.Name()) == ".go":
			return nil
		}
		text, err := os.ReadFile(path)
		of, _ := filepath.Rel(dir, path)
		all = append(all, notice{about + ": " + filepath.ToSlash(of), string(text)})
		return err
	})
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("%s has no licence in %s", about, dir)
	}
	return all, err
}

// engineNotices asks the engine for the licences of all that it was linked from. It
// does not list ClickHouse and chdb themselves, which are under the licence of many of
// its parts.
func engineNotices(ctx context.Context) (all []notice, err error) {
	dir, err := os.MkdirTemp("", "adlens-bundled-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	e, err := engine.Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	rows, err := askEngine(ctx, e, "SELECT library_name, license_path, license_text FROM system.licenses ORDER BY ALL FORMAT JSONCompactEachRow")
	if err != nil {
		return nil, err
	}
	apache := ""
	for decoder := json.NewDecoder(bytes.NewReader(rows)); ; {
		var row [3]string
		if err := decoder.Decode(&row); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if row[1] == "/utils/list-licenses/Apache-2.0.txt" {
			apache = row[2]
		}
		all = append(all, notice{"ClickHouse library: " + row[0] + ": " + strings.TrimPrefix(row[1], "/"), row[2]})
	}
	if apache == "" || len(all) < 100 {
		return nil, fmt.Errorf("the engine lists %d licences; expected those of all its parts, the Apache License 2.0 among them", len(all))
	}
	own := "ClickHouse library (libchdb.so) " + engine.LibraryVersion() + ", of chdb (https://github.com/chdb-io/chdb) and ClickHouse (https://github.com/ClickHouse/ClickHouse), Copyright ClickHouse, Inc."
	return append([]notice{{own, apache}}, all...), nil
}

// askEngine returns what the engine answers a reader.
func askEngine(ctx context.Context, e *engine.Engine, statement string) ([]byte, error) {
	at, err := e.Endpoint(ctx)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+at.Address+"/", strings.NewReader(statement))
	if err != nil {
		return nil, err
	}
	request.SetBasicAuth(engine.ReaderUser, at.ReaderPassword)
	request.Header.Set(engine.GateHeader, at.Gate)
	request.Close = true
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(answer.Body)
	err = errors.Join(err, answer.Body.Close())
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("the engine answers %s: %s", answer.Status, text)
	}
	return text, err
}

const rule = "================================================================================"

// writeNotices writes each text once, below all that it is about.
func writeNotices(all []notice) []byte {
	about := map[string][]string{}
	var texts []string
	for _, n := range all {
		text := strings.TrimSpace(strings.ReplaceAll(n.text, "\r\n", "\n"))
		if about[text] == nil {
			texts = append(texts, text)
		}
		if !slices.Contains(about[text], n.about) {
			about[text] = append(about[text], n.about)
		}
	}
	slices.SortStableFunc(texts, func(a, b string) int { return cmp.Compare(about[a][0], about[b][0]) })
	var b bytes.Buffer
	b.WriteString("Notices of what this release of adlens bundles. Each text follows the parts that it is\nabout. The time-zone database (IANA) that is part of the program is in the public domain.\n")
	for _, text := range texts {
		fmt.Fprintf(&b, "\n%s\n%s\n%s\n\n%s\n", rule, strings.Join(about[text], "\n"), rule, text)
	}
	return b.Bytes()
}
