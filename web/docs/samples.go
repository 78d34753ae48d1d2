package docs

import (
	"strings"
	"text/template"

	contract "adlens/docs"
)

// sample is a whole program that sends one request and prints the answer.
type sample struct{ Language, Code string }

// sampleTemplates are the programs, given an address. The key is in the environment,
// as it is a secret. A program fails where the answer is an error.
var sampleTemplates = []struct {
	language string
	code     *template.Template
}{
	{"curl", parseSample(`curl --fail-with-body -H "Authorization: Bearer $ADLENS_KEY" "{{.}}"`)},
	{"Python", parseSample(`import json, os, urllib.request

request = urllib.request.Request(
    "{{.}}",
    headers={"Authorization": "Bearer " + os.environ["ADLENS_KEY"]},
)
with urllib.request.urlopen(request) as response:
    answer = json.load(response)
print(json.dumps(answer, indent=2))`)},
	{"JavaScript", parseSample(`const response = await fetch(
  "{{.}}",
  { headers: { Authorization: "Bearer " + process.env.ADLENS_KEY } },
);
if (!response.ok) throw new Error(await response.text());
const answer = await response.json();
console.log(JSON.stringify(answer, null, 2));`)},
	{"Go", parseSample(`package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
)

func main() {
	request, err := http.NewRequest("GET", "{{.}}", nil)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("ADLENS_KEY"))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		log.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		log.Fatalf("%s: %s", response.Status, body)
	}
	fmt.Printf("%s\n", body)
}`)},
}

func parseSample(code string) *template.Template { return template.Must(template.New("").Parse(code)) }

// Samples are programs that send the request of the endpoint's first example; none
// for an address without one, or without a key.
func (o operationPage) Samples() ([]sample, error) {
	if o.Open || len(o.Examples) == 0 {
		return nil, nil
	}
	_, address, _ := strings.Cut(o.Examples[0].Request, " ")
	var all []sample
	for _, s := range sampleTemplates {
		var code strings.Builder
		if err := s.code.Execute(&code, contract.ServerAddress+address); err != nil {
			return nil, err
		}
		all = append(all, sample{s.language, code.String()})
	}
	return all, nil
}
