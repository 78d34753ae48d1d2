package cluster_test

import (
	"crypto/tls"
	"encoding/pem"
	"io"
	"net"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"adlens/integration/containers"
	"adlens/integration/harness"
	"adlens/integration/house"
)

// remote is a server that is not ours, in a container. These tests need it
// whatever ADLENS_TEST_STORE says.
func remote(t *testing.T) *containers.ClickHouse {
	t.Helper()
	server, err := harness.SharedServer()
	house.Have(t, err)
	return server
}

// addressOf is an address of a server: scheme, user, host and what follows.
func addressOf(scheme, user, host, database, query string) string {
	return (&url.URL{Scheme: scheme, User: url.UserPassword(user, containers.Password), Host: host, Path: "/" + database, RawQuery: query}).String()
}

// programAt is a program on a database of the test's own, as the writer and the
// reader whose rights `adlens grants` prints.
func programAt(t *testing.T, c *containers.ClickHouse, scheme, host, query string, settings ...string) *harness.Program {
	t.Helper()
	database := harness.Database(t.Name())
	p, err := harness.NewAt(t.TempDir(), append([]string{
		"ADLENS_CLICKHOUSE=" + addressOf(scheme, harness.Writer, host, database, query),
		readerAt(scheme, host, database, query),
	}, settings...)...)
	house.Need(t, err)
	return p
}

func readerAt(scheme, host, database, query string) string {
	return "ADLENS_CLICKHOUSE_READER=" + addressOf(scheme, harness.Reader, host, database, query)
}

func TestEveryProtocolGivesTheSameAnswers(t *testing.T) {
	t.Parallel()
	c := remote(t)
	secureNative, ca := secured(t, c.Native)
	secureHTTP, sameCA := secured(t, c.HTTP)
	dead := deadAddress
	for name, way := range map[string]struct{ scheme, host, query, ca, reader string }{
		"native":       {"clickhouse", c.Native, "", "", ""},
		"HTTP":         {"http", c.HTTP, "", "", ""},
		"native TLS":   {"clickhouse", secureNative, "secure=true", ca, ""},
		"HTTPS":        {"https", secureHTTP, "", sameCA, ""},
		"second host":  {"clickhouse", dead + "," + c.Native, "", "", ""},
		"one of three": {"http", dead + "," + c.HTTP + "," + dead, "", "", ""},
		"HTTP to read": {"clickhouse", c.Native, "", "", readerAt("http", c.HTTP, harness.Database(t.Name()+"/HTTP_to_read"), "")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			settings := []string{"ADLENS_CLICKHOUSE_CA=" + way.ca}
			if way.reader != "" {
				settings = append(settings, way.reader)
			}
			p := programAt(t, c, way.scheme, way.host, way.query, settings...)
			h := &house.House{Program: p, Server: house.Serve(t, p)}
			for _, script := range []string{"first_figures.txt", "restatement.txt"} {
				house.RunScriptOn(t, h, filepath.Join("../figures/testdata/scripts", script))
			}
		})
	}
}

// deadAddress is an address without a listener: no server may take so low a
// port unasked, and none that the system chooses is as low.
const deadAddress = "127.0.0.1:1"

// secured is an address that speaks TLS and passes on to another, and the file
// of the authority that its certificate is of.
func secured(t *testing.T, to string) (address, ca string) {
	t.Helper()
	maker := httptest.NewTLSServer(nil) // for its certificate of 127.0.0.1
	t.Cleanup(maker.Close)
	ca = filepath.Join(t.TempDir(), "ca.pem")
	house.Need(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: maker.Certificate().Raw}), 0o644))
	l, err := tls.Listen("tcp4", "127.0.0.1:0", &tls.Config{Certificates: maker.TLS.Certificates})
	house.Need(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			go passOn(from, to)
		}
	}()
	return l.Addr().String(), ca
}

func passOn(from net.Conn, to string) {
	defer from.Close()
	onward, err := net.Dial("tcp4", to)
	if err != nil {
		return
	}
	defer onward.Close()
	go func() {
		io.Copy(onward, from)
		onward.Close()
	}()
	io.Copy(from, onward)
}

func TestAServerThatCannotBeUsedIsExplainedInOneSentence(t *testing.T) {
	t.Parallel()
	c := remote(t)
	secure, ca := secured(t, c.Native)
	secureHTTP, _ := secured(t, c.HTTP)
	dead := deadAddress
	database := harness.Database(t.Name())
	at := func(scheme, user, host, database, query string) []string {
		return []string{"ADLENS_CLICKHOUSE=" + addressOf(scheme, user, host, database, query)}
	}
	wrong := func(scheme, host string) []string {
		return []string{"ADLENS_CLICKHOUSE=" + scheme + "://" + harness.Writer + ":not-the-password@" + host + "/" + database}
	}
	for name, one := range map[string]struct {
		settings []string
		host     string
		says     string
	}{
		"no server there":           {at("clickhouse", harness.Writer, dead, database, ""), dead, "nothing listens there"},
		"no server there, HTTP":     {at("http", harness.Writer, dead, database, ""), dead, "nothing listens there"},
		"no such name":              {at("clickhouse", harness.Writer, "no-such-host.invalid:9000", database, ""), "no-such-host.invalid:9000", "no address is known"},
		"wrong password":            {wrong("clickhouse", c.Native), c.Native, "the name or the password is wrong"},
		"wrong password, HTTP":      {wrong("http", c.HTTP), c.HTTP, "the name or the password is wrong"},
		"unknown user":              {at("clickhouse", "nobody", c.Native, database, ""), c.Native, `"nobody" in: the name or the password is wrong`},
		"a reader who should write": {at("clickhouse", harness.Reader, c.Native, database, ""), c.Native, "`adlens grants` prints"},
		"rights elsewhere":          {at("clickhouse", harness.Writer, c.Native, "elsewhere", ""), c.Native, `needed in database "elsewhere"`},
		"rights elsewhere, HTTP":    {at("http", harness.Writer, c.HTTP, "elsewhere", ""), c.HTTP, `needed in database "elsewhere"`},
		"HTTP at the native port":   {at("http", harness.Writer, c.Native, database, ""), c.Native, "is the port right?"},
		"native at the HTTP port":   {at("clickhouse", harness.Writer, c.HTTP, database, ""), c.HTTP, "is the port right?"},
		"TLS at a plain port":       {at("clickhouse", harness.Writer, c.HTTP, database, "secure=true"), c.HTTP, "does not speak TLS"},
		"no TLS at a TLS port":      {at("clickhouse", harness.Writer, secure, database, ""), secure, "is the port right?"},
		"unknown authority":         {at("clickhouse", harness.Writer, secure, database, "secure=true"), secure, "--clickhouse-ca"},
		"unknown authority, HTTPS":  {at("https", harness.Writer, secureHTTP, database, ""), secureHTTP, "--clickhouse-ca"},
		"another name":              {append(at("clickhouse", harness.Writer, secure, database, "secure=true&tls_server_name=other.example.org"), "ADLENS_CLICKHOUSE_CA="+ca), secure, "certificate for another name"},
		"a reader of another database": {append(at("clickhouse", harness.Writer, c.Native, database, ""),
			"ADLENS_CLICKHOUSE_READER="+addressOf("clickhouse", harness.Reader, c.Native, "other", "")), "other", "expected one database"},
		"an authority without TLS": {append(at("clickhouse", harness.Writer, c.Native, database, ""), "ADLENS_CLICKHOUSE_CA="+ca), ca, "secure=true"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := harness.NewAt(t.TempDir(), one.settings...)
			house.Need(t, err)
			r := p.Run("account", "list")
			text := strings.TrimSuffix(r.Stderr, "\n")
			if r.Code != 1 || !strings.Contains(text, one.says) || !strings.Contains(text, one.host) {
				t.Errorf("want the host and %q, got %s", one.says, r)
			}
			for _, unwanted := range []string{containers.Password, "not-the-password", "\n", "DB::Exception", "clickhouse [", "goroutine"} {
				if strings.Contains(text, unwanted) {
					t.Errorf("%q is in: %s", unwanted, text)
				}
			}
			t.Log(text)
		})
	}
}

func TestHostsOfDifferentServersAreRefused(t *testing.T) {
	t.Parallel()
	one := remote(t)
	other, err := harness.NewServer()
	house.Have(t, err)
	t.Cleanup(func() { house.Need(t, other.Remove()) })
	for _, c := range []*containers.ClickHouse{one, other} {
		if r := programAt(t, c, "clickhouse", c.Native, "").Run("account", "list"); r.Code != 0 {
			t.Fatal(r)
		}
	}
	r := programAt(t, one, "clickhouse", one.Native+","+other.Native, "").Run("account", "list")
	if r.Code != 1 || !strings.Contains(r.Stderr, other.Native+" is another server") {
		t.Errorf("two servers are taken for one: %s", r)
	}
	r = programAt(t, one, "clickhouse", one.Native, "", readerAt("clickhouse", other.Native, harness.Database(t.Name()), "")).Run("account", "list")
	if r.Code != 1 || !strings.Contains(r.Stderr, "the reader's address "+other.Native+" leads to another server") {
		t.Errorf("a reader of another server: %s", r)
	}
}

// A server that hangs is not a dead one: its connections stay open and nothing
// comes. Answers must say so in time, and be right once it goes on.
func TestAServerThatHangsIsSaidToAndThenAnswersAsBefore(t *testing.T) {
	t.Parallel()
	c, err := harness.NewServer()
	house.Have(t, err)
	t.Cleanup(func() { house.Need(t, c.Remove()) })
	p := programAt(t, c, "clickhouse", c.Native, "")
	key, err := p.Account("patient")
	house.Need(t, err)
	server, err := p.Serve("--answer-cache", "0", "--figure-memory", "0")
	house.Need(t, err)
	t.Cleanup(server.Kill)
	ask := harness.Client{Address: server.Address, Key: key}
	before := house.Get(t, ask, "/api/v1/summary")
	goOn, err := c.Pause(t.Context())
	house.Need(t, err)
	began := time.Now()
	if a := house.Get(t, ask, "/api/v1/reports/products"); a.Status != 503 && a.Status != 504 {
		t.Errorf("a hanging server: %s", a)
	}
	if took := time.Since(began); took > 35*time.Second {
		t.Errorf("it took %v to say so", took)
	}
	if a := house.Get(t, ask, "/readyz"); a.Status != 503 {
		t.Errorf("/readyz: %s", a)
	}
	if a := house.Get(t, ask, "/healthz"); a.Status != 200 {
		t.Errorf("/healthz: %s", a)
	}
	house.Need(t, goOn())
	house.Eventually(t, "it answers again", func() bool { return house.Get(t, ask, "/readyz").Status == 200 })
	if a := house.Get(t, ask, "/api/v1/summary"); a.Status != 200 || string(a.Body) != string(before.Body) {
		t.Errorf("before %s, afterwards %s", before, a)
	}
	house.Need(t, c.Stop(t.Context()))
	if a := house.Get(t, ask, "/api/v1/summary"); a.Status != 503 || a.Header.Get("Retry-After") == "" {
		t.Errorf("a server that was stopped: %s", a)
	}
	house.Need(t, c.Start(t.Context()))
	house.Eventually(t, "it answers again", func() bool { return house.Get(t, ask, "/readyz").Status == 200 })
	if a := house.Get(t, ask, "/api/v1/summary"); a.Status != 200 || string(a.Body) != string(before.Body) {
		t.Errorf("before %s, after a restart %s", before, a)
	}
	house.Need(t, server.Stop())
}

// Each statement of a request has a setting with its deadline.
func TestAReaderWithoutTheDeadlineOfRequestsIsToldOf(t *testing.T) {
	t.Parallel()
	c := remote(t)
	other := programAt(t, c, "clickhouse", c.Native, "")
	figures, _ := house.FiguresAndLists(t, other, house.Seed(t), 0)
	p, err := harness.NewAt(other.DataDir, other.Settings[0], "ADLENS_CLICKHOUSE_READER="+addressOf("clickhouse", containers.Bounded, c.Native, harness.Database(t.Name()), ""))
	house.Need(t, err)
	if r := p.Run("doctor"); r.Code != 1 || !regexp.MustCompile(`(?m)^failed +requests +.*max_execution_time`).MatchString(r.Stdout) {
		t.Errorf("doctor: %s", r)
	}
	server, err := p.Serve("--answer-cache", "0", "--figure-memory", "0")
	house.Need(t, err)
	t.Cleanup(func() { house.Need(t, server.Stop()) })
	if a := house.Get(t, harness.Client{Address: server.Address, Key: figures.Ask.Key}, "/api/v1/report?dimensions=date,campaign&range=all_time"); a.Status != 503 || !strings.Contains(string(a.Body), `"engine_unavailable"`) {
		t.Errorf("a request: %s", a)
	}
	house.Eventually(t, "the log names the setting", func() bool { return strings.Contains(server.Log(), "Setting max_execution_time") })
}
