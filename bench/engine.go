package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"adlens/internal/engine"
)

// embedded is a direct line to the program's own engine, for what the program
// itself does not ask.
type embedded struct {
	engine *engine.Engine
	at     engine.Endpoint
	client *http.Client
}

// openEngine joins the users of the engine, which a running serve has started.
func openEngine(ctx context.Context, dataDir string) (*embedded, error) {
	e, err := engine.Open(ctx, dataDir)
	if err != nil {
		return nil, err
	}
	at, err := e.Endpoint(ctx)
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return &embedded{e, at, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 512}}}, nil
}

func (e *embedded) close() error {
	e.client.CloseIdleConnections()
	return e.engine.Close()
}

// engineError is a statement that the engine refused or gave up.
type engineError struct{ code, text string }

func (e *engineError) Error() string { return "the engine answers: " + e.text }

// sql is a statement with the values of its parameters and the format of its
// rows.
type sql struct {
	text   string
	params map[string]string
	format string // TSV where empty
	writer bool   // as the loader, who may write
}

// runStatement runs a statement and returns its rows.
func (e *embedded) runStatement(ctx context.Context, s sql) ([]byte, error) {
	body, err := e.streamStatement(ctx, s, nil)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return io.ReadAll(body)
}

// streamStatement runs a statement; its rows are read by the caller. input follows the
// statement where it inserts.
func (e *embedded) streamStatement(ctx context.Context, s sql, input io.Reader) (io.ReadCloser, error) {
	values := url.Values{"database": {engine.Database}, "default_format": {s.format}}
	if s.format == "" {
		values.Set("default_format", "TSV")
	}
	for name := range maps.Keys(s.params) {
		values.Set("param_"+name, s.params[name])
	}
	var content io.Reader = strings.NewReader(s.text)
	if input != nil {
		values.Set("query", s.text)
		content = input
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+e.at.Address+"/?"+values.Encode(), content)
	if err != nil {
		return nil, err
	}
	user, password := engine.ReaderUser, e.at.ReaderPassword
	if s.writer {
		user, password = engine.LoaderUser, e.at.LoaderPassword
	}
	req.SetBasicAuth(user, password)
	req.Header.Set(engine.GateHeader, e.at.Gate)
	res, err := e.client.Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		defer res.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(res.Body, 4096))
		return nil, &engineError{res.Header.Get("X-ClickHouse-Exception-Code"), string(bytes.TrimSpace(text))}
	}
	return res.Body, nil
}

// queryRows runs a statement and returns its rows by columns' text.
func (e *embedded) queryRows(ctx context.Context, s sql) ([][]string, error) {
	text, err := e.runStatement(ctx, s)
	return splitRows(text), err
}

// splitRows takes tab separated text apart. None of our texts needs escapes.
func splitRows(text []byte) [][]string {
	var rows [][]string
	for line := range strings.Lines(string(text)) {
		rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return rows
}

// queryNumber runs a statement that answers one whole number.
func (e *embedded) queryNumber(ctx context.Context, text string) (int64, error) {
	body, err := e.runStatement(ctx, sql{text: text, writer: true})
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(string(bytes.TrimSpace(body)), 10, 64)
}

// timeStatement runs a statement and returns how long it took to the last byte.
func (e *embedded) timeStatement(ctx context.Context, s sql) (time.Duration, []byte, error) {
	began := time.Now()
	body, err := e.runStatement(ctx, s)
	return time.Since(began), body, err
}
