package standin

// Endpoint names one kind of call, for counting and for faults.
type Endpoint string

// The endpoints. Any matches all of them in a Fault and in Calls; Unknown is a
// call that the platform does not offer; Foreign is one at the host that
// RedirectAbroad leads to.
const (
	Any     Endpoint = ""
	Unknown Endpoint = "unknown"
	Foreign Endpoint = "foreign"

	Token       Endpoint = "token"
	ConsentPage Endpoint = "consent page"
	Profiles    Endpoint = "profiles"

	ReportCreate Endpoint = "report create"
	ReportPoll   Endpoint = "report poll"
	ReportCancel Endpoint = "report cancel"
	ReportFile   Endpoint = "report file"

	LegacyCreate   Endpoint = "legacy report create"
	LegacyPoll     Endpoint = "legacy report poll"
	LegacyDownload Endpoint = "legacy report download"

	SPCampaigns Endpoint = "sp campaigns"
	SPAdGroups  Endpoint = "sp ad groups"
	SPAds       Endpoint = "sp ads"
	SBCampaigns Endpoint = "sb campaigns"
	SBAdGroups  Endpoint = "sb ad groups"
	SBAds       Endpoint = "sb ads"
	SDCampaigns Endpoint = "sd campaigns"
	SDAdGroups  Endpoint = "sd ad groups"
	SDAds       Endpoint = "sd ads"

	ExportCampaigns Endpoint = "export campaigns"
	ExportAdGroups  Endpoint = "export ad groups"
	ExportAds       Endpoint = "export ads"
	ExportPoll      Endpoint = "export poll"
	ExportFile      Endpoint = "export file"
)
