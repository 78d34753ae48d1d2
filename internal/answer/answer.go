// Package answer answers what any surface asks: an endpoint by its name, with
// parameters as pairs of names and values, of an admitted caller. It knows
// neither HTTP nor where rows come from.
//
//	Request -> Question (understood, named) -> Answer (remembered or computed)
//
// An answer is named before it is computed, computed once for all who ask for it
// at the same time, described once for all formats, and tagged by what it says.
package answer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"
	"time"

	"adlens"
	"adlens/internal/auth"
	"adlens/internal/catalogue"
	"adlens/internal/formats"
	"adlens/internal/lru"
	"adlens/internal/manifest"
	"adlens/internal/query"
	"adlens/internal/recent"
)

// Timeout bounds the work of one request.
const Timeout = 30 * time.Second

// ErrOverloaded is why an answer waited too long for memory, or for its turn to
// be written.
var ErrOverloaded = errors.New("answers in progress use all the memory that the server has for them; send one request at a time, or ask for fewer rows")

// NotFoundError reports that what is asked about does not exist.
type NotFoundError struct{ Detail string }

func (e *NotFoundError) Error() string { return e.Detail }

// ConnectionStore finds the connections of accounts to the platform.
type ConnectionStore interface {
	Connections(ctx context.Context, account string) ([]adlens.Connection, error)
}

// AppStore reads the connections of assistants to an account.
type AppStore interface {
	Apps(ctx context.Context, account string) ([]auth.App, error)
}

// UseStore reads when a key was last used before a time, zero for never.
type UseStore interface {
	LastUse(ctx context.Context, id string, before time.Time) (time.Time, error)
}

// Freshener keeps lists of the platform fresh while they are used.
type Freshener interface {
	// Asked notes a request for a marketplace's lists of a time (nil where none
	// are held), and reports whether they are being read again, and where not, whether
	// a reading may have ended since that time was read. It does not wait for the
	// platform.
	Asked(ctx context.Context, account, marketplaceID string, listed *time.Time) (syncing, ended bool, err error)
}

// Config is what a service needs.
type Config struct {
	Figures     *query.Service
	Connections ConnectionStore
	Apps        AppStore // nil where no assistant can be connected
	Uses        UseStore // nil where the last use is not shown
	Lists       Freshener
	Cache       int // bytes of answers that are remembered; 0 is none
	// Memory is how many bytes all answers take together, about, while they are
	// made and sent; 0 is no bound.
	Memory int
	// Warn hears of an account whose lists could not be checked for their age.
	Warn func(account string, err error)
	Now  func() time.Time
}

// Service answers questions. It is safe for concurrent use.
type Service struct {
	figures     *query.Service
	connections ConnectionStore
	apps        *recent.Values[string, *connectedApp] // by account; nil of one without
	uses        UseStore
	lists       Freshener
	warn        func(account string, err error)
	now         func() time.Time
	cache       *cache
	forgets     atomic.Uint64 // how often something was forgotten
}

// New returns a service that remembers nothing yet.
func New(c Config) *Service {
	return &Service{figures: c.Figures, connections: c.Connections, apps: recentApps(c.Apps, c.Now), uses: c.Uses, lists: c.Lists, warn: c.Warn, now: c.Now, cache: newCache(c.Cache, c.Memory)}
}

// Moment is an account as it was at a time, by which named periods end.
type Moment struct {
	query.View
	now     time.Time
	only    []string // the caller's marketplaces; nil is all
	forgets uint64   // how often something was forgotten by then
}

// Now returns the account as it is now, for several questions about one moment. It
// has only the caller's marketplaces.
func (s *Service) Now(ctx context.Context, caller auth.Caller) (m Moment, err error) {
	m.now, m.only = s.now(), caller.Marketplaces
	for again := true; again; again = s.forgets.Load() != m.forgets { // it may have been read half before that
		m.forgets = s.forgets.Load()
		m.View, err = s.figures.LimitedView(ctx, caller.Account.ID, m.only)
	}
	return m, err
}

// LacksRecords reports whether an endpoint answers records of the service of which none
// was ever loaded: that it has no rows says nothing then.
func (m Moment) LacksRecords(endpoint string) bool {
	kind, isOfRecords := map[string]manifest.Kind{"rules": manifest.Rules, RuleRuns: manifest.RuleRuns, "activity": manifest.Activity}[endpoint]
	return isOfRecords && len(m.Manifest.Of(kind)) == 0
}

// LastEnded returns the last day that had ended by then in the time zone of a name.
func (m Moment) LastEnded(zone string) (adlens.Day, error) { return query.LastEnded(zone, m.now) }

// Forget drops what is kept of an account, of all where it is "", figures and answers, as
// after a repair that brings lost rows back under the same version.
func (s *Service) Forget(account string) {
	s.forgets.Add(1)
	s.figures.Forget(account)
	s.cache.forgetAccount(account)
}

// requireKept makes sure that the account is what it was at a moment, where something was
// forgotten since. A database that was put back to an older state lacks the rows that the
// moment names, or has others of the same numbers.
func (s *Service) requireKept(ctx context.Context, m Moment) error {
	if s.forgets.Load() == m.forgets {
		return nil
	}
	now, err := s.figures.LimitedView(ctx, m.Account, m.only)
	if err == nil && !reflect.DeepEqual(now.Manifest, m.Manifest) {
		err = &adlens.Error{Kind: adlens.EngineUnavailable, Err: errors.New("the database was restarted or replaced while the request was answered, and the account is not what it was")}
	}
	return err
}

// momentOf returns the moment that a request is about.
func (s *Service) momentOf(ctx context.Context, caller auth.Caller, r Request) (Moment, error) {
	if r.Moment != nil {
		return *r.Moment, nil
	}
	return s.Now(ctx, caller)
}

// Request is what a caller asks.
type Request struct {
	Endpoint   string         // one of Endpoints
	RuleID     string         // of RuleRuns
	Parameters []Parameter    // in the order sent
	Faults     []adlens.Fault // of parameters that could not be read
	Format     string         // where the parameters name none; "" is JSON
	Moment     *Moment        // that is read, of the same caller; nil is now
	saved      bool           // under a link, whose reader does not know what was saved
	compared   *Request       // the same with the comparison of a shared view, which this leaves out; nil of any other
}

// request is a request that was understood, as internal/query has it.
type request interface {
	Written() query.Format
	About() []string
	Spelled() string
	RowWeight() int
	AmountCurrency() string
}

// Where an answer comes from.
const (
	Computed   = "computed"
	Remembered = "remembered"
)

// Question is a request that was understood.
type Question struct {
	// Name names the answer before it is computed: it is the same exactly for the
	// same version of the data and the same meaning of the request. It is "" for an
	// answer that is not to be kept.
	Name string
	// How is Computed or Remembered once Answer was called, "" without a name.
	How string

	service  *Service
	meaning  func() string // names what is asked, whatever the data are
	account  string
	endpoint string
	request  request
	most     func(context.Context) (rows int, err error)
	compute  func(context.Context) (describe func(*writer), err error)
	use      *use
	bodies   []*Answer // that the question has of its use
	copied   inUse     // bytes that CountCopy counts
	turn     bool      // of those of large copies
	saved    bool      // as of the request
}

// Answer is an answer as it was written. It is never changed, so any number of
// callers can have it.
type Answer struct {
	Head
	Coding string // content coding of the body; "" is none
	Format string // its name, as in requests
	Body   []byte
	File   string // what it is called as a file, without its ending
}

// Head is what is told of an answer also to a client that holds it already.
type Head struct {
	// Tag is the same exactly for the same meaning of the request and the same
	// content, of whatever version of the data. It is "" for an answer that is not to
	// be kept.
	Tag   string
	Pages *Pages // nil where it has none
}

// Pages is which page of how many rows an answer is.
type Pages struct {
	query.Paging
	Rows      int
	Truncated bool
}

// Ask reads and names a request of an admitted caller. The error is a
// *query.FaultsError with all that is wrong with the parameters, a
// *NotFoundError, or wraps a store's. The caller closes the question.
func (s *Service) Ask(ctx context.Context, caller auth.Caller, r Request) (*Question, error) {
	ask, known := endpoints[r.Endpoint]
	if !known {
		return nil, &NotFoundError{"there is no endpoint " + Printable(r.Endpoint)}
	}
	if r.compared != nil {
		if err := s.checkNotCompared(ctx, caller, *r.compared); err != nil {
			return nil, err
		}
	}
	question, err := ask(ctx, s, caller, r)
	if err != nil {
		return nil, hideSaved(r.saved, err)
	}
	question.saved = r.saved
	return question, nil
}

// Head returns the head of the answer where it is known without computing the answer;
// else one without a tag.
func (q *Question) Head() Head {
	if q.Name == "" {
		return Head{}
	}
	head, _ := q.service.cache.heads.Get(q.Name)
	return head
}

// Answer returns the answer to the question: from memory, or computed once for
// all who ask at the same time. Its memory counts until the question is closed.
func (q *Question) Answer(ctx context.Context) (*Answer, error) {
	a, err := q.answer(ctx)
	return a, hideSaved(q.saved, err)
}

func (q *Question) answer(ctx context.Context) (a *Answer, err error) {
	if q.Name == "" {
		describe, err := q.compute(ctx)
		if err != nil {
			return nil, err
		}
		return &Answer{Format: query.JSON, Body: formats.JSON(func(w *formats.Writer) { describe(&writer{Writer: w}) })}, nil
	}
	q.use = q.service.cache.acquireUse(q.account, q.Name)
	q.How = Remembered
	a, known := q.service.cache.known.Get(q.Name)
	if !known {
		q.How = Computed
		if a, err = q.service.cache.flights.Do(ctx, q.Name, q.writeAnswer); err != nil {
			return nil, err
		}
	}
	q.holdBody(a)
	return a, nil
}

func (q *Question) holdBody(a *Answer) {
	q.use.holdBody(a, 1)
	q.bodies = append(q.bodies, a)
}

// Encode returns the answer in a content coding, which is remembered alongside
// it and computed once for all who ask at the same time.
func (q *Question) Encode(ctx context.Context, plain *Answer, coding string, encode func([]byte) []byte) (*Answer, error) {
	name := plain.Tag + "-" + coding
	a, known := q.service.cache.known.Get(name)
	if !known {
		var err error
		a, err = q.service.cache.flights.Do(ctx, name, func(ctx context.Context) (*Answer, error) {
			a := *plain
			err := q.service.cache.inTurn(ctx, len(plain.Body), func() error {
				a.Coding, a.Body = coding, encode(plain.Body)
				return nil
			})
			if err != nil {
				return nil, err
			}
			q.service.cache.cacheAnswer(name, &a)
			return &a, nil
		})
		if err != nil {
			return nil, err
		}
	}
	q.holdBody(a)
	return a, nil
}

// Address returns what asks for the answer again: path and query string, in normal
// form.
func (q *Question) Address() string {
	if q.request == nil {
		return APIPath + "/" + q.endpoint
	}
	return addressOf(q.endpoint, q.request)
}

// CountCopy counts what the caller makes of the answer for itself, such as its rows as
// values, until the question is closed, before which it asks nothing else. Such memory is
// taken without waiting: to wait while the answer is in memory could have two callers wait
// for each other. But a large copy waits for its turn: callers who all have the same
// answer would each make one.
func (q *Question) CountCopy(ctx context.Context, bytes int) error {
	if q.use == nil {
		return nil
	}
	if bytes > ordinaryAnswer {
		if err := takeTurn(ctx, q.service.cache.copying); err != nil {
			return err
		}
		q.turn = true
	}
	q.copied = q.copied.plus(bytes, isOrdinary(bytes))
	q.service.cache.memory.addBytes(q.account, bytes, isOrdinary(bytes))
	return nil
}

// Close gives back the memory of the answer, which was sent or is not needed.
func (q *Question) Close() {
	if q.use != nil {
		q.service.cache.memory.addBytes(q.account, -q.copied.large(), false)
		q.service.cache.memory.addBytes(q.account, -q.copied.ordinary, true)
		if q.turn {
			<-q.service.cache.copying
		}
		for _, a := range q.bodies {
			q.use.dropBody(a)
		}
		q.use.releaseUse()
	}
}

// writeAnswer computes the answer, writes and remembers it. Its context ends when all
// who wait for it have gone, and so may the question's use before.
func (q *Question) writeAnswer(ctx context.Context) (a *Answer, err error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	use := q.service.cache.acquireUse(q.account, q.Name)
	defer use.releaseUse()
	waiting, done := withWaitTimeout(ctx)
	defer done()
	rows, err := q.most(ctx)
	if err != nil {
		return nil, err
	}
	bytes := rowBytes * (rows + 16) * q.request.RowWeight()
	if err := use.reserveBytes(waiting, bytes); err != nil {
		return nil, err
	}
	defer func() {
		if a != nil && ctx.Err() == nil { // else nothing may wait for it any more
			use.holdBody(a, 0)
		}
		use.adjustBytes(-bytes)
	}()
	describe, err := q.compute(ctx)
	if err != nil {
		return nil, err
	}
	written := &Answer{Format: q.request.Written().Name, File: fileName(q.endpoint, q.request)}
	err = q.service.cache.inTurn(ctx, bytes, func() (err error) {
		written.Body, written.Pages, err = writeAs(q.request.Written(), q.request.AmountCurrency(), addressOf(q.endpoint, q.request), describe)
		written.Tag = tagOf(q.meaning(), written)
		return err
	})
	if err != nil {
		return nil, err
	}
	q.service.cache.heads.Put(q.Name, written.Head)
	q.service.cache.cacheAnswer(q.Name, written)
	return written, nil
}

// tagOf tags an answer by what it says: its body, and which page of how many rows
// that is, which a table has no place for.
func tagOf(meaning string, a *Answer) string {
	hash := sha256.New()
	fmt.Fprintf(hash, "%q", meaning)
	if a.Pages != nil {
		fmt.Fprintf(hash, "|%d|%t", a.Pages.Rows, a.Pages.Truncated)
	}
	hash.Write([]byte{'|'})
	hash.Write(a.Body)
	return hex.EncodeToString(hash.Sum(nil)[:16])
}

// Remembered returns what is remembered of answers, for metrics.
func (s *Service) Remembered() lru.Stats { return s.cache.known.Stats() }

// MemoryInUse returns how many bytes answers take that are being made or sent.
func (s *Service) MemoryInUse() int {
	s.cache.memory.mu.Lock()
	defer s.cache.memory.mu.Unlock()
	return s.cache.memory.used.all
}

// separators are those of CSV by their names.
var separators = map[string]byte{query.Comma: ',', query.Semicolon: ';', query.Tab: '\t'}

// writeAs writes an answer in a format. Tables name the address that asks for it, and
// spreadsheets the currency of amounts, unless it is "".
func writeAs(format query.Format, currency, address string, describe func(*writer)) (body []byte, pages *Pages, err error) {
	w := &writer{}
	plain := func(out *formats.Writer) {
		w.Writer = out
		describe(w)
	}
	table := func(out *formats.Writer) {
		out.Text("request", address)
		plain(out)
	}
	present := func(c formats.Column) formats.Column {
		heading := catalogue.HeadingOf(c.Name)
		if format.Headers == query.Labels {
			c.Heading = heading.Label
		}
		c.Unit = cellUnit(heading.Unit, currency)
		return c
	}
	switch format.Name {
	case query.CSV:
		csv := formats.CSV{Separator: separators[format.Separator], Decimal: '.'}
		if format.Decimal == query.Comma {
			csv.Decimal = ','
		}
		body, err = formats.Table(table, present, csv.New)
	case query.XLSX:
		body, err = formats.Table(table, present, formats.NewXLSX)
	case query.Parquet:
		body, err = formats.Table(table, present, formats.NewParquet)
	case query.NDJSON:
		body = formats.Lines(plain)
	default:
		body = formats.JSON(plain)
	}
	if errors.Is(err, formats.ErrTooLarge) {
		err = &query.FaultsError{Faults: []adlens.Fault{{Parameter: "format", Value: format.Name, Code: adlens.InvalidParameter,
			Detail: fmt.Sprintf("%q has no room for %v; expected %s, %s, %s or %s", format.Name, err, query.JSON, query.NDJSON, query.CSV, query.XLSX)}}}
	}
	return body, w.pages, err
}

// cellUnit returns what the cells of a spreadsheet show with a number.
func cellUnit(unit catalogue.Unit, currency string) string {
	switch unit {
	case catalogue.Percent:
		return "%"
	case catalogue.USD, catalogue.Local:
		return currency
	default:
		return ""
	}
}
