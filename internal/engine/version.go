package engine

// development is the version of a program that was built by hand.
const development = "dev"

// VersionError says that another version of the program started an engine.
type VersionError struct{ Engine, Program string } // Engine is "" before versions were noted

func (e *VersionError) Error() string { return e.Problem() + "; " + e.Remedy() }

// Problem says whose engine it is.
func (e *VersionError) Problem() string {
	if e.Engine == "" {
		return "the running engine was started by an earlier version of adlens; this is " + e.Program
	}
	return "the running engine was started by adlens " + e.Engine + "; this is " + e.Program
}

// Remedy says how the directory gets an engine of the newer version; versions have no
// order, so a person has to know which that is. No engine is replaced while it is used:
// others may be at work.
func (e *VersionError) Remedy() string {
	if e.Engine == "" {
		return "end all adlens processes of the directory (servers, mcp) so that this version starts it again"
	}
	return "if this is the newer version, end all adlens processes of the directory (servers, mcp) so that it starts the engine again; otherwise use version " + e.Engine
}

// FindOtherVersion returns an error if the running engine of a data directory is one of
// another version than the program, whose settings and fixes it may lack; else nil. To a
// program that was built by hand, an engine without a version may be of any age.
func FindOtherVersion(dataDir, program string) *VersionError {
	at, err := homeOf(dataDir).readEndpoint()
	if err != nil || at.Version == program || at.Version == "" && program == development {
		return nil // an engine without that file does not answer at all, which is reported
	}
	return &VersionError{Engine: at.Version, Program: program}
}
