package query

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"adlens"
	"adlens/internal/catalogue"
	"adlens/internal/query/period"

	"github.com/go-playground/validator/v10"
)

// rule is what a parameter's value must be, and the fault if it is not.
type rule struct {
	valid func(value string) bool
	fault func(value string) adlens.Fault
}

// rules are the rules of all parameters by their keys, which are the tags of
// the validator, and that of elements of lists.
var rules = func() map[string]rule {
	all := map[string]rule{"element": {func(v string) bool { return v != "" }, emptyElement}}
	for _, p := range catalogue.Parameters {
		all[p.Key()] = ruleOf(p)
	}
	return all
}()

func ruleOf(p catalogue.Parameter) rule {
	switch p.Kind {
	case catalogue.Choice:
		return oneOf(p)
	case catalogue.Day:
		return rule{isDay, dayFault}
	case catalogue.Zone:
		return rule{isZone, zoneFault}
	case catalogue.Number:
		return numberRule(p)
	default: // the view decides
		return lengthRule(p)
	}
}

// lengthRule is the rule of a text that has bounds, in characters.
func lengthRule(p catalogue.Parameter) rule {
	return rule{
		valid: func(value string) bool {
			n := utf8.RuneCountInString(value)
			return n >= p.Min && (p.Max == 0 || n <= p.Max)
		},
		fault: func(value string) adlens.Fault {
			return invalidFault(value, fmt.Sprintf("%d to %d characters", p.Min, p.Max))
		},
	}
}

// canonicalValue writes a value of a closed set as the set does: closed sets do not
// mind case, nor spaces around a value. Line ends and other control characters are refused.
func canonicalValue(value string, set []string) (string, bool) {
	value = lowerASCII(strings.Trim(value, " "))
	i := slices.IndexFunc(set, func(s string) bool { return len(s) == len(value) && lowerASCII(s) == value })
	if i < 0 {
		return "", false
	}
	return set[i], true
}

// lowerASCII writes the letters A to Z small and leaves all others alone: some
// others would fold to them.
func lowerASCII(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + ('a' - 'A')
		}
		return r
	}, text)
}

func oneOf(p catalogue.Parameter) rule {
	expected := anyOf(p.Values)
	if p.Shown != nil {
		expected = anyOf(p.Shown) + ", or " + p.Others
	}
	return rule{
		valid: func(value string) bool { _, ok := canonicalValue(value, p.Values); return ok },
		fault: func(value string) adlens.Fault {
			f := unknownValue(value, p.Values, expected)
			if name, ok := canonicalValue(value, slices.Collect(maps.Keys(p.Excluded))); ok {
				f.Detail = fmt.Sprintf("%q cannot be requested: %s; expected %s", value, p.Excluded[name], expected)
			}
			return f
		},
	}
}

func unknownValue(value string, set []string, expected string) adlens.Fault {
	return adlens.Fault{Value: value, Code: adlens.UnknownValue, Allowed: set, DidYouMean: Nearest(value, set),
		Detail: fmt.Sprintf("%q is not known here; expected %s", value, expected)}
}

func invalidFault(value, expected string) adlens.Fault {
	return adlens.Fault{Value: value, Code: adlens.InvalidParameter, Detail: fmt.Sprintf("%q is not valid; expected %s", value, expected)}
}

func isDay(value string) bool { _, err := adlens.ParseDay(value); return err == nil }

func dayFault(value string) adlens.Fault {
	return invalidFault(value, "a day of the calendar written YYYY-MM-DD, like 2026-02-28")
}

func isZone(value string) bool { _, err := period.Zone(value); return err == nil }

func zoneFault(value string) adlens.Fault {
	f := unknownValue(value, period.ZoneNames(), "a name of the time-zone database in its exact spelling, like Europe/London")
	f.Allowed = nil // six hundred are not few
	return f
}

func emptyElement(value string) adlens.Fault {
	return invalidFault(value, "a value between the commas of the list, not an empty one")
}

// mostWrongValues bounds the faults of a list that has a maximum: each of figures has the
// names of all of them.
const mostWrongValues = 200

// distinctValues are the values of a list, each once, as it was sent first.
func distinctValues(p catalogue.Parameter, sent []string) (values []string) {
	seen := make(map[string]bool, len(sent))
	for _, value := range sent {
		name, isOfSet := canonicalValue(value, p.Values)
		if !isOfSet {
			name = value
		}
		if !seen[name] {
			seen[name] = true
			values = append(values, value)
		}
	}
	return values
}

// tooManyValues refuses a list, whose values are the lesser part of an error.
func tooManyValues(values []string, most int) adlens.Fault {
	return adlens.Fault{Value: strings.Join(values[:most+1], ","), Code: adlens.InvalidParameter,
		Detail: fmt.Sprintf("the list has %d values; expected %d at most", len(values), most)}
}

// numberRule is the rule of a whole number from 1 to a limit, or the word for all.
func numberRule(p catalogue.Parameter) rule {
	expected := fmt.Sprintf("a whole number from 1 to %d", p.Max)
	if p.TakesAll {
		expected += " or " + catalogue.All
	}
	if p.Max == catalogue.MaxTablePageSize {
		expected = tablePageSize
	}
	return rule{
		valid: func(value string) bool {
			if isAll(value) {
				return p.TakesAll
			}
			n, err := strconv.ParseUint(value, 10, 32)
			return err == nil && n >= 1 && n <= uint64(p.Max)
		},
		fault: func(value string) adlens.Fault { return invalidFault(value, expected) },
	}
}

// tablePageSize is what a number of rows has to be, of which clients hold fewer in JSON.
var tablePageSize = fmt.Sprintf("a whole number from 1 to %d or %s for JSON, and up to %d for the other formats", catalogue.MaxPageSize, catalogue.All, catalogue.MaxTablePageSize)

func isAll(value string) bool {
	_, ok := canonicalValue(value, []string{catalogue.All})
	return ok
}

// validate checks values against the rules.
var validate = func() *validator.Validate {
	v := validator.New()
	for tag, r := range rules {
		check := func(level validator.FieldLevel) bool { return r.valid(level.Field().String()) }
		if err := v.RegisterValidation(tag, check); err != nil {
			panic(err)
		}
	}
	return v
}()

// checkParams returns what is wrong with the parameters of an endpoint, each value
// for itself.
func checkParams(e catalogue.Endpoint, params any) (faults []adlens.Fault) {
	values := reflect.ValueOf(params)
	for _, field := range ParamFields(values.Type()) {
		value := values.FieldByIndex(field.Index)
		p, ok := e.Parameter(field.Tag.Get("query"))
		if !ok || value.IsZero() { // which was not sent
			continue
		}
		tag, sent := p.Key(), value.Interface()
		if p.List {
			tag = "dive,element," + tag
		}
		if p.MaxValues > 0 {
			list := distinctValues(p, sent.([]string))
			if sent = list; len(list) > p.MaxValues {
				fault := tooManyValues(list, p.MaxValues)
				fault.Parameter = p.Name
				faults = append(faults, fault)
			}
		}
		var wrong validator.ValidationErrors
		if !errors.As(validate.Var(sent, tag), &wrong) {
			continue
		}
		if p.MaxValues > 0 {
			wrong = wrong[:min(len(wrong), mostWrongValues)]
		}
		for _, w := range wrong {
			fault := rules[w.Tag()].fault(w.Value().(string))
			fault.Parameter = p.Name
			faults = append(faults, fault)
		}
	}
	return faults
}

func anyOf(set []string) string {
	if len(set) == 1 {
		return set[0]
	}
	return "one of " + strings.Join(set, ", ")
}
