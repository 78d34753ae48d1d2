package harness

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Contract is an OpenAPI document that answers are checked with. All that an
// answer has must be described: clients may pass over what they do not know,
// tests may not.
type Contract struct {
	routes  []route
	problem *jsonschema.Schema // of errors that belong to no route
}

// route is a path of the document with its answers by status.
type route struct {
	segments []string // "{name}" stands for anything
	answers  map[string]described
}

// described is what the document says of the answers of one status.
type described struct {
	headers map[string]header
	bodies  map[string]*jsonschema.Schema // by media type; nil for what is not JSON
}

type header struct {
	required bool
	schema   *jsonschema.Schema
}

const problemType = "application/problem+json"

// ReadContract reads a document. It must be whole: no reference leads out.
func ReadContract(document []byte) (*Contract, error) {
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return nil, err
	}
	b := &contractBuilder{document: parsed.(map[string]any), compiler: jsonschema.NewCompiler(), compiled: map[string]*jsonschema.Schema{}}
	b.compiler.AssertFormat()
	c := &Contract{problem: b.compileSchema(map[string]any{"$ref": "#/components/schemas/Problem"})}
	for path, item := range asObject(b.document["paths"]) {
		get := asObject(asObject(item)["get"])
		c.routes = append(c.routes, route{strings.Split(path, "/"), b.buildAnswers(asObject(get["responses"]))})
	}
	return c, errors.Join(b.faults...)
}

// Check says what of an answer is not as the document has it.
func (c *Contract) Check(method, address string, a Answer) error {
	path, _, _ := strings.Cut(address, "?")
	if isPage(path) {
		return nil
	}
	d, err := c.findDescribed(path, a)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if err := errors.Join(d.checkHeaders(a.Header), d.checkBody(method, a)); err != nil {
		return fmt.Errorf("%s %s answers %d, not as the document says: %w\n%.2000s", method, path, a.Status, err, a.Body)
	}
	return nil
}

// isPage tells the pages for people, which the document leaves out.
func isPage(path string) bool {
	return path == "/" || path == "/docs" || strings.HasPrefix(path, "/docs/") || strings.HasPrefix(path, "/page/") || strings.HasPrefix(path, "/share/")
}

// findDescribed finds the description of an answer. An address that is not in the
// document answers errors alone.
func (c *Contract) findDescribed(path string, a Answer) (described, error) {
	i := slices.IndexFunc(c.routes, func(r route) bool { return r.matchesPath(path) })
	if i < 0 {
		if a.Status < 400 {
			return described{}, fmt.Errorf("status %d at an address that is not in the document", a.Status)
		}
		return described{bodies: map[string]*jsonschema.Schema{problemType: c.problem}}, nil
	}
	d, ok := c.routes[i].answers[fmt.Sprint(a.Status)]
	if !ok {
		return d, fmt.Errorf("status %d, which the document does not have: %.500s", a.Status, a.Body)
	}
	return d, nil
}

func (r route) matchesPath(path string) bool {
	segments := strings.Split(path, "/")
	return slices.EqualFunc(r.segments, segments, func(want, got string) bool {
		return want == got || strings.HasPrefix(want, "{") && got != ""
	})
}

func (d described) checkHeaders(sent http.Header) error {
	var faults []error
	for name, h := range d.headers {
		value := sent.Get(name)
		switch {
		case value == "" && h.required:
			faults = append(faults, fmt.Errorf("the header %s is missing", name))
		case value != "":
			if err := h.schema.Validate(headerValue(h.schema, value)); err != nil {
				faults = append(faults, fmt.Errorf("the header %s is %q: %w", name, value, err))
			}
		}
	}
	return errors.Join(faults...)
}

// headerValue reads a header as the type that its schema has.
func headerValue(schema *jsonschema.Schema, value string) any {
	if schema.Types != nil && slices.Contains(schema.Types.ToStrings(), "integer") {
		if number, err := jsonschema.UnmarshalJSON(strings.NewReader(value)); err == nil {
			return number
		}
	}
	return value
}

func (d described) checkBody(method string, a Answer) error {
	if a.Status == http.StatusPartialContent {
		return nil // some bytes are of no type
	}
	if len(d.bodies) == 0 || method == http.MethodHead {
		if len(a.Body) > 0 {
			return errors.New("there is a body")
		}
		return nil
	}
	media, _, _ := strings.Cut(a.Header.Get("Content-Type"), ";")
	schema, ok := d.bodies[media]
	if !ok {
		return fmt.Errorf("the type %q", media)
	}
	if schema == nil || a.Header.Get("Content-Encoding") != "" {
		return nil // who asks for a packed answer unpacks it, and compares
	}
	body, err := jsonschema.UnmarshalJSON(bytes.NewReader(a.Body))
	if err != nil {
		return err
	}
	return schema.Validate(shortenRows(body))
}

// manyRows is how many rows of an answer are looked at, from its beginning and
// as many from its end. The rows between are made by the same lines of code.
const manyRows = 250

func shortenRows(body any) any {
	if data, _ := asObject(body)["data"].([]any); len(data) > 2*manyRows {
		asObject(body)["data"] = slices.Concat(data[:manyRows], data[len(data)-manyRows:])
	}
	return body
}

// theContract is that of all clients; nil is none.
var theContract struct {
	sync.RWMutex
	*Contract
}

// HoldAnswersTo has every answer to any client checked from now on.
func HoldAnswersTo(c *Contract) {
	theContract.Lock()
	defer theContract.Unlock()
	theContract.Contract = c
}

// checkContract checks an answer, where there is something to hold it against.
func checkContract(method, address string, a Answer) error {
	theContract.RLock()
	defer theContract.RUnlock()
	if theContract.Contract == nil {
		return nil
	}
	return theContract.Check(method, address, a)
}
