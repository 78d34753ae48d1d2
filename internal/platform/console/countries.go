package console

import (
	"slices"
	"strings"

	"adlens"
)

// countryNames are the countries' names in the languages whose downloads have a column
// of them, but for English: Spanish and Chinese.
var countryNames = map[string][]string{
	"AE": {"Emiratos Árabes Unidos", "阿联酋", "阿拉伯联合酋长国"},
	"AU": {"Australia", "澳大利亚"},
	"BE": {"Bélgica", "比利时"},
	"BR": {"Brasil", "巴西"},
	"CA": {"Canadá", "加拿大"},
	"DE": {"Alemania", "德国"},
	"EG": {"Egipto", "埃及"},
	"ES": {"España", "西班牙"},
	"FR": {"Francia", "法国"},
	"IE": {"Irlanda", "爱尔兰"},
	"IN": {"India", "印度"},
	"IT": {"Italia", "意大利"},
	"JP": {"Japón", "日本"},
	"MX": {"México", "Méjico", "墨西哥"},
	"NL": {"Países Bajos", "荷兰"},
	"PL": {"Polonia", "波兰"},
	"SA": {"Arabia Saudí", "Arabia Saudita", "沙特阿拉伯", "沙特"},
	"SE": {"Suecia", "瑞典"},
	"SG": {"Singapur", "新加坡"},
	"TR": {"Turquía", "土耳其"},
	"UK": {"Reino Unido", "英国"},
	"US": {"Estados Unidos", "美国"},
	"ZA": {"Sudáfrica", "南非"},
}

// CountryCode returns the code of the country that the file names, "" where it names
// none or one that is not known here.
func (f *File) CountryCode() string {
	is := func(name string) bool { return strings.EqualFold(name, f.Country) }
	for _, c := range adlens.Countries {
		if is(c.Code) || is(c.Name) || c.Code == adlens.CanonicalCountry(strings.ToUpper(f.Country)) || slices.ContainsFunc(countryNames[c.Code], is) {
			return c.Code
		}
	}
	return ""
}
