package demo

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"time"
)

// The platform's own completed export object, with the profile and the entity
// added.
type exportObject struct {
	ProfileID    json.Number `json:"profileId"`
	Entity       string      `json:"entity"`
	ExportID     string      `json:"exportId"`
	Status       string      `json:"status"`
	URL          string      `json:"url"`
	FileSize     int         `json:"fileSize"`
	URLExpiresAt string      `json:"urlExpiresAt"`
	GeneratedAt  string      `json:"generatedAt"`
	CreatedAt    string      `json:"createdAt"`
}

// An export is a marketplace's whole list of an entity, as of the morning after
// the last day with figures.
type export struct {
	market  *market
	entity  string
	morning day
	rows    func() any
}

// exports lists the exports to write.
func (o *office) exports() []export {
	var out []export
	for _, m := range markets {
		out = append(out,
			export{m, "campaigns", o.today, func() any { return o.campaignRows(m) }},
			export{m, "adGroups", o.today, func() any { return o.groupRows(m) }},
			export{m, "ads", o.today, func() any { return o.adRows(m) }},
		)
	}
	return out
}

// stem does not name the day: the next morning's list takes the place.
func (e export) stem() string { return e.market.country + "-" + e.entity }

func (e export) object(seed uint64, size int) exportObject {
	r := stream(seed, "export", e.stem(), e.morning.String())
	// The first minute of the day has passed whenever the day is called today.
	created := e.morning.midnight().Add(time.Duration(r.IntN(20_000)) * time.Millisecond)
	generated := created.Add(5*time.Second + time.Duration(r.IntN(30_000))*time.Millisecond)
	id := uuid(r.Uint64(), r.Uint64())
	return exportObject{
		ProfileID:    json.Number(strconv.FormatInt(e.market.profileID, 10)),
		Entity:       e.entity,
		ExportID:     id,
		Status:       "COMPLETED",
		URL:          "https://exports.example.com/" + id + "/" + e.entity + ".json.gz",
		FileSize:     size,
		URLExpiresAt: instant(generated.Add(time.Hour)),
		GeneratedAt:  instant(generated),
		CreatedAt:    instant(created),
	}
}

// export writes the download of an export and the object that describes it.
func (p *press) export(seed uint64, e export) ([]string, error) {
	if err := p.pack(e.rows()); err != nil {
		return nil, err
	}
	object, err := jsonFile(e.object(seed, p.file.Len()))
	if err != nil {
		return nil, err
	}
	return p.pair(filepath.Join(exportsDir, e.stem()), ".export.json", object)
}

// pack compresses a value into the buffer.
func (p *press) pack(v any) error {
	p.file.Reset()
	p.zip.Reset(&p.file)
	if err := json.NewEncoder(p.zip).Encode(v); err != nil {
		return err
	}
	return p.zip.Close()
}
