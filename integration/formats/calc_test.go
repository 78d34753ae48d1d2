package formats_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"testing"
	"time"

	"adlens/integration/house"
)

// calc is LibreOffice with a sheet that follows a feed.
type calc struct {
	refresh io.WriteCloser
	said    *bufio.Scanner
}

const recipes = "../../web/docs/recipes"

// python is the system's own, which knows LibreOffice's interface.
const python = "/usr/bin/python3"

// openCalc has a sheet follow a feed by a way that recipes/calc.py knows.
func openCalc(t *testing.T, way, what string) *calc {
	t.Helper()
	if _, err := exec.LookPath("soffice"); err != nil {
		t.Skip("LibreOffice is not installed")
	}
	if err := exec.CommandContext(t.Context(), python, "-c", "import uno").Run(); err != nil {
		t.Skip("python3-uno is not installed")
	}
	command := exec.Command(python, "../recipes/calc.py", way, what) // ends with its input, and LibreOffice before it
	var complaints bytes.Buffer
	command.Stderr = &complaints
	in, errIn := command.StdinPipe()
	out, errOut := command.StdoutPipe()
	house.Need(t, errors.Join(errIn, errOut))
	house.Need(t, command.Start())
	t.Cleanup(func() {
		in.Close()
		if err := command.Wait(); err != nil {
			t.Errorf("LibreOffice ended with %v: %s", err, complaints.String())
		}
	})
	c := &calc{in, bufio.NewScanner(out)}
	c.said.Buffer(nil, 1<<20)
	return c
}

// rows are the texts of the sheet's cells.
func (c *calc) rows(t *testing.T) (rows [][]string) {
	t.Helper()
	if !c.said.Scan() {
		t.Fatalf("LibreOffice says nothing: %v", c.said.Err())
	}
	house.Need(t, json.Unmarshal(c.said.Bytes(), &rows))
	return rows
}

// asShown compares texts, and numbers by their value: a spreadsheet shows 1.5
// for 1.50.
func asShown(shown, sent string) bool {
	a, errA := strconv.ParseFloat(shown, 64)
	b, errB := strconv.ParseFloat(sent, 64)
	return shown == sent || errA == nil && errB == nil && a == b
}

func mustShow(t *testing.T, c *calc, want [][]string) {
	t.Helper()
	got := c.rows(t)
	same := len(got) == len(want)
	for i := 0; same && i < len(want); i++ {
		same = len(got[i]) == len(want[i])
		for j := 0; same && j < len(want[i]); j++ {
			same = asShown(got[i][j], want[i][j])
		}
	}
	if !same || len(want) < 2 {
		t.Fatalf("the sheet shows\n%v\nthe feed has\n%v", got, want)
	}
}

func mustShowCell(t *testing.T, c *calc, want string) {
	t.Helper()
	if got := c.rows(t); len(got) != 1 || len(got[0]) != 1 || !asShown(got[0][0], want) {
		t.Errorf("the sheet shows %v, expected %s", got, want)
	}
}

func TestASheetOfCalcFollowsItsFeed(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	path := house.Feed(t, h, one.Files.ID, "/reports/products?range=all_time")
	read := func() [][]string { return house.CSVRows(t, house.Get(t, withoutKey(h), path).Body) }
	before := read()
	sheet := openCalc(t, "link", h.Server.Address+path)
	mustShow(t, sheet, before)

	dir := t.TempDir()
	house.SpPair("more", "101", house.DaysAgo(9), 5, time.Now()).Write(t, dir)
	house.Load(t, h.Program, one, dir)
	after := read()
	if reflect.DeepEqual(after, before) {
		t.Fatalf("five days more changed nothing: %v", after)
	}
	_, err := io.WriteString(sheet.refresh, "\n")
	house.Need(t, err)
	mustShow(t, sheet, after)
	for range 5 { // each sends several requests, most of them for headers alone
		_, err := io.WriteString(sheet.refresh, "\n")
		house.Need(t, err)
		mustShow(t, sheet, after)
	}
}

// ofCalc finds the recipe's formula and the address in it.
var ofCalc = regexp.MustCompile(`(?m)^(=NUMBERVALUE.*WEBSERVICE\(")([^"]*)(".*)$`)

func TestACellOfCalcShowsTheFigureOfAFeed(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	path := house.Feed(t, h, one.Files.ID, "/summary?range=all_time&format=json")
	var summary struct{ Spend json.Number }
	house.Need(t, json.Unmarshal([]byte(house.Get(t, withoutKey(h), path).Body), &summary))
	if s := summary.Spend.String(); s == "" || s == "0" {
		t.Fatalf("the feed's spend is %q", s)
	}
	recipe, err := os.ReadFile(filepath.Join(recipes, "libreoffice.md"))
	house.Need(t, err)
	formula := ofCalc.FindStringSubmatch(string(recipe))
	if formula == nil {
		t.Fatal("the recipe has no formula")
	}
	mustShowCell(t, openCalc(t, "formula", formula[1]+h.Server.Address+path+formula[3]), summary.Spend.String())
}
