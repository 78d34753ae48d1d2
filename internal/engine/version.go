package engine

// development is the version of a program that was built by hand.
const development = "dev"

// VersionError says that an engine is one of another version of the program.
type VersionError struct{ Engine, Program string } // Engine is "" before versions were noted

func (e *VersionError) Error() string { return e.Problem() + "; " + e.Remedy() }

// Problem says whose engine it is.
func (e *VersionError) Problem() string {
	if e.Engine == "" {
		return "the engine is one of an earlier version, and this is version " + e.Program
	}
	return "the engine is one of version " + e.Engine + ", and this is version " + e.Program
}

// Remedy says how the directory gets an engine of this version. None is replaced while
// it is used: others may be at work.
func (e *VersionError) Remedy() string {
	return "end all adlens processes of the directory (servers, mcp) so that it is started again by this version"
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
