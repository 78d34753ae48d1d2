package demo

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// The platform's own completed report object, with the profile added.
type reportObject struct {
	ProfileID     json.Number   `json:"profileId"`
	ReportID      string        `json:"reportId"`
	Name          string        `json:"name"`
	Status        string        `json:"status"`
	StartDate     string        `json:"startDate"`
	EndDate       string        `json:"endDate"`
	Configuration configuration `json:"configuration"`
	CreatedAt     string        `json:"createdAt"`
	UpdatedAt     string        `json:"updatedAt"`
	GeneratedAt   string        `json:"generatedAt"`
	FailureReason *string       `json:"failureReason"`
	FileSize      int           `json:"fileSize"`
	URL           string        `json:"url"`
	URLExpiresAt  string        `json:"urlExpiresAt"`
}

type configuration struct {
	AdProduct    string   `json:"adProduct"`
	ReportTypeID string   `json:"reportTypeId"`
	GroupBy      []string `json:"groupBy"`
	Columns      []string `json:"columns"`
	TimeUnit     string   `json:"timeUnit"`
	Format       string   `json:"format"`
	Filters      []string `json:"filters"` // always null here
}

// object describes an extract whose download has that many bytes. Like the
// figures, its id and times follow from the seed and the days alone.
func (e extract) object(seed uint64, columns []string, size int) reportObject {
	r := stream(seed, "report", e.stem(), e.last.String())
	// The report is asked for once the profile's own day has surely ended, and
	// is ready some minutes later.
	ended := (e.last + 1).midnight().Add(time.Duration(e.market.dayEnds) * time.Hour)
	created := ended.Add(time.Hour + time.Duration(r.IntN(90*60_000))*time.Millisecond)
	generated := created.Add(2*time.Minute + time.Duration(r.IntN(25*60_000))*time.Millisecond)
	id := uuid(r.Uint64(), r.Uint64())
	t := adTypes[e.adType]
	return reportObject{
		ProfileID: json.Number(strconv.FormatInt(e.market.profileID, 10)),
		ReportID:  id,
		Name:      e.stem(),
		Status:    "COMPLETED",
		StartDate: e.first.String(),
		EndDate:   e.last.String(),
		Configuration: configuration{
			AdProduct: t.adProduct, ReportTypeID: t.reportType, GroupBy: []string{t.groupBy},
			Columns: columns, TimeUnit: "DAILY", Format: "GZIP_JSON",
		},
		CreatedAt:    instant(created),
		UpdatedAt:    instant(generated),
		GeneratedAt:  instant(generated),
		FileSize:     size,
		URL:          "https://reports.example.com/" + id + "/report-" + id + ".json.gz",
		URLExpiresAt: instant(generated.Add(time.Hour)),
	}
}

func instant(t time.Time) string { return t.Format("2006-01-02T15:04:05.000Z") }

// uuid writes 128 bits in the form of a random UUID.
func uuid(high, low uint64) string {
	high = high&^0xf000 | 0x4000
	low = low&^(3<<62) | 2<<62
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", high>>32, high>>16&0xffff, high&0xffff, low>>48, low&(1<<48-1))
}
