package engine

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// neededFiles is how many files an engine may have to open at once in a load. With fewer
// it fails in the middle, or accepts no connection and says nothing.
const neededFiles = 512

// checkOpenFiles makes sure that an engine may open enough files. Go has raised the soft
// limit to the hard one, and does so in the engine's process too.
func checkOpenFiles() error {
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil || files.Cur >= neededFiles {
		return err
	}
	return fmt.Errorf("the engine cannot start where a process may open %d files: it needs %d; raise the limit (ulimit -n, LimitNOFILE of systemd, ulimits of a container)", files.Cur, neededFiles)
}

// explainLoad says why the library could not be loaded. It was found to be the right one
// before, so that fetching it again does not help.
func explainLoad(library string, err error) error {
	var space unix.Rlimit
	if limiting := unix.Getrlimit(unix.RLIMIT_AS, &space); limiting == nil && space.Cur < unix.RLIM_INFINITY {
		return fmt.Errorf("the ClickHouse library cannot be loaded where a process may have %d bytes of address space, of which the engine reserves far more than it uses: remove the limit (ulimit -v, LimitAS of systemd): %w", space.Cur, err)
	}
	return fmt.Errorf("the ClickHouse library %s cannot be loaded: %w", library, err)
}
