package query

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"adlens"
	"adlens/internal/query/period"

	"github.com/go-playground/validator/v10"
)

// rule is what a parameter's value must be, and what is said where it is not.
type rule struct {
	valid func(value string) bool
	fault func(value string) adlens.Fault
}

// rules are the rules of the validate tags of parameters.
var rules = map[string]rule{
	"range":       oneOf(names(period.Names)),
	"adproduct":   oneOf(names(adlens.AdProducts)),
	"granularity": oneOf([]string{Auto, ByDay, ByMonth}),
	"sort":        oneOf(append(figureNames(), SortProduct)),
	"order":       oneOf([]string{Ascending, Descending}),
	"format":      oneOf(Formats),
	"separator":   oneOf(separators),
	"decimal":     oneOf(decimals),
	"compare":     oneOf(comparisons),
	"day":         {isDay, dayFault},
	"zone":        {isZone, zoneFault},
	"page":        number(MaxPage, ""),
	"pagesize":    number(MaxPageSize, AllRows),
	"listsize":    number(MaxPageSize, ""),
	"tool":        oneOf(tools),
	"state":       {func(v string) bool { _, ok := canonical(v, listedStates); return ok }, stateFault},
	"element":     {func(v string) bool { return v != "" }, emptyElement},
}

func names[T any](values []T) []string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = fmt.Sprint(v)
	}
	return all
}

// canonical writes a value of a closed set as the set does: closed sets do not
// mind case, nor spaces around a value.
func canonical(value string, set []string) (string, bool) {
	value = strings.Trim(value, " ")
	i := slices.IndexFunc(set, func(s string) bool { return lower(s) == lower(value) })
	if i < 0 {
		return "", false
	}
	return set[i], true
}

// lower writes the letters A to Z small and leaves all others alone: some
// others would fold to them.
func lower(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + ('a' - 'A')
		}
		return r
	}, text)
}

func oneOf(set []string) rule {
	return rule{
		valid: func(value string) bool { _, ok := canonical(value, set); return ok },
		fault: func(value string) adlens.Fault { return unknownValue(value, set, anyOf(set)) },
	}
}

func unknownValue(value string, set []string, expected string) adlens.Fault {
	return adlens.Fault{Value: value, Code: adlens.UnknownValue, Allowed: set, DidYouMean: Nearest(value, set),
		Detail: fmt.Sprintf("%q is not known here; expected %s", value, expected)}
}

func invalid(value, expected string) adlens.Fault {
	return adlens.Fault{Value: value, Code: adlens.InvalidParameter, Detail: fmt.Sprintf("%q is not valid; expected %s", value, expected)}
}

func isDay(value string) bool { _, err := adlens.ParseDay(value); return err == nil }

func dayFault(value string) adlens.Fault {
	return invalid(value, "a day of the calendar written YYYY-MM-DD, like 2026-02-28")
}

func isZone(value string) bool { _, err := period.Zone(value); return err == nil }

func zoneFault(value string) adlens.Fault {
	f := unknownValue(value, period.ZoneNames(), "a name of the time-zone database in its exact spelling, like Europe/London")
	f.Allowed = nil // six hundred are not few
	return f
}

func emptyElement(value string) adlens.Fault {
	return invalid(value, "a value between the commas of the list, not an empty one")
}

// stateFault says of archived campaigns that asking for them is in vain.
func stateFault(value string) adlens.Fault {
	f := unknownValue(value, listedStates, "ENABLED or PAUSED")
	if strings.EqualFold(strings.Trim(value, " "), "ARCHIVED") {
		f.Detail = fmt.Sprintf("%q cannot be asked for: archived campaigns are never listed; expected ENABLED or PAUSED", value)
	}
	return f
}

// Bounds of paging.
const (
	MaxPage     = 1_000_000_000
	MaxPageSize = 1_000
	AllRows     = "all"
)

// number is a whole number from 1 to a limit, or a word.
func number(limit int, word string) rule {
	expected := fmt.Sprintf("a whole number from 1 to %d", limit)
	if word != "" {
		expected += " or " + word
	}
	return rule{
		valid: func(value string) bool {
			if _, ok := canonical(value, []string{word}); ok && word != "" {
				return true
			}
			n, err := strconv.ParseUint(value, 10, 32)
			return err == nil && n >= 1 && n <= uint64(limit)
		},
		fault: func(value string) adlens.Fault { return invalid(value, expected) },
	}
}

// validate checks tags against rules.
var validate = func() *validator.Validate {
	v := validator.New(validator.WithRequiredStructEnabled())
	v.RegisterTagNameFunc(func(f reflect.StructField) string { return f.Tag.Get("query") })
	for tag, r := range rules {
		check := func(level validator.FieldLevel) bool { return r.valid(level.Field().String()) }
		if err := v.RegisterValidation(tag, check); err != nil {
			panic(err)
		}
	}
	return v
}()

// check returns what is wrong with parameters, each value for itself.
func check(params any) []adlens.Fault {
	var wrong validator.ValidationErrors
	if err := validate.Struct(params); err == nil || !errors.As(err, &wrong) {
		return nil
	}
	faults := make([]adlens.Fault, len(wrong))
	for i, w := range wrong {
		value, _ := w.Value().(string)
		faults[i] = rules[w.Tag()].fault(value)
		faults[i].Parameter, _, _ = strings.Cut(w.Field(), "[")
	}
	return faults
}

func anyOf(set []string) string {
	if len(set) == 1 {
		return set[0]
	}
	return "one of " + strings.Join(set, ", ")
}
