package conn

import (
	"fmt"
	"maps"
	"net/url"
	"strings"
	"testing"
)

// A server takes so much of an address, however many parameters share it.
func TestListsOfAStatementFitItsAddressTogether(t *testing.T) {
	const most = 128 << 10
	sql, params := "", Params{"account": "a{b:Array(UInt32)}", "digits": "[1,2,3]", "few": "[1,2,3]"}
	for i := range 200 {
		name := fmt.Sprintf("list_%d", i)
		sql += fmt.Sprintf("a NOT IN {%[1]s:Array(UInt32)} OR b IN {%[1]s:Array(UInt32)} OR ", name)
		params[name] = "[" + strings.Repeat("1234567,", 1<<10) + fmt.Sprint(i) + "]"
	}
	sql += "a IN {few:Array(UInt32)} OR b = {digits:String} OR b = {account:String}"
	given := maps.Clone(params)
	_, text, short := inlineLong(t.Context(), sql, params)
	values := url.Values{}
	for name, value := range short {
		values.Set("param_"+name, value)
	}
	address := values.Encode()
	if len(address) > most || len(address) < most/2 {
		t.Errorf("%d parameters take %d bytes of the address", len(short), len(address))
	}
	if !maps.Equal(given, params) {
		t.Error("the caller's parameters changed")
	}
	for name, value := range given {
		placeholder, literal := "{"+name+":Array(UInt32)}", "CAST("+value+", 'Array(UInt32)')"
		if _, stays := short[name]; stays && (short[name] != value || strings.Count(text, placeholder) != strings.Count(sql, placeholder)) {
			t.Errorf("%s stays in the address and not in the text", name)
		} else if !stays && (strings.Contains(text, placeholder) || strings.Count(text, literal) != 2) {
			t.Errorf("%s is not where it stood in the text", name)
		}
	}
	for _, name := range []string{"account", "digits", "few"} {
		if short[name] != given[name] {
			t.Errorf("%s is no long list, and became %q", name, short[name])
		}
	}
	if _, same, all := inlineLong(t.Context(), sql, short); same != sql || !maps.Equal(all, short) {
		t.Error("a statement whose parameters fit became another")
	}
}
