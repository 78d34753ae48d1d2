package doctor

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// What the disk needs beside what is there. A load writes what it changes
// before it takes the old away, and merging writes it once more: in the worst
// case everything is there twice.
const (
	diskReserve = 1 << 30   // for reports that are being fetched, logs, and new data
	diskLeast   = 256 << 20 // below it even a small load may end halfway
	inodesLeast = 10_000    // a part of a table is some hundred files at worst
)

// fileSystem warns of what forgets or does not lock: the locks of the kernel say
// who is alive, and a load is acknowledged once it is on the disk.
type fileSystem struct{ name, trouble, advice string }

const ownDisk = "keep the data directory on a disk of this machine, such as ext4 or XFS"

var fileSystems = map[int64]fileSystem{
	0xEF53:     {name: "ext4"},
	0x58465342: {name: "XFS"},
	0x9123683E: {name: "Btrfs"},
	0x2FC12FC1: {name: "ZFS"},
	0xF2F52010: {name: "F2FS"},
	0x01021994: {"tmpfs", "all of it is gone when the machine restarts", ownDisk},
	0x858458F6: {"ramfs", "all of it is gone when the machine restarts", ownDisk},
	0x794C7630: {"overlay", "all of it is gone when the container is removed", "mount a volume at the data directory"},
	0x6969:     {"NFS", "its locks and its syncing keep no promises, and the engine needs both", ownDisk},
	0xFF534D42: {"CIFS", "its locks and its syncing keep no promises, and the engine needs both", ownDisk},
	0xFE534D42: {"SMB", "its locks and its syncing keep no promises, and the engine needs both", ownDisk},
	0x65735546: {"FUSE", "its locks and its syncing keep no promises, and the engine needs both", ownDisk},
	0x01021997: {"9p", "its locks and its syncing keep no promises, and the engine needs both", ownDisk},
	0x00C36400: {"Ceph", "its locks and its syncing keep no promises, and the engine needs both", ownDisk},
}

func (e *examination) fileSystem(c *checkup) (string, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(e.DataDir, &stat); err != nil {
		return "", err
	}
	if errors.Is(unix.Access(e.DataDir, unix.W_OK), unix.EROFS) {
		c.addFailure("mount it for writing", "nothing can be written: it is mounted read-only")
	}
	kind, known := fileSystems[int64(stat.Type)]
	if !known {
		return fmt.Sprintf("of the type %#x", stat.Type), nil
	}
	if kind.trouble != "" {
		c.addWarning(kind.advice, "%s: %s", kind.name, kind.trouble)
	}
	return kind.name, nil
}

func (e *examination) diskSpace(c *checkup) (string, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(e.DataDir, &stat); err != nil {
		return "", err
	}
	used := uint64(0)
	err := e.walkFiles(func(_ string, stat *unix.Stat_t) { used += uint64(stat.Blocks) * 512 })
	d := disk{free: stat.Bavail * uint64(stat.Bsize), used: used, inodes: stat.Ffree, countsInodes: stat.Files > 0}
	return d.checkSpace(c), err
}

// disk is what a file system has left.
type disk struct {
	free, used   uint64 // bytes; used by the data directory
	inodes       uint64
	countsInodes bool
}

func (d disk) checkSpace(c *checkup) string {
	const advice = "free some space on this disk, or move the data directory to a larger one"
	needed := d.used + diskReserve
	switch {
	case d.free < diskLeast:
		c.addFailure(advice, "%s are free; the next load needs more", formatBytes(d.free))
	case d.free < needed:
		c.addWarning(advice, "%s are free; a load that changes everything needs up to %s", formatBytes(d.free), formatBytes(needed))
	case d.countsInodes && d.inodes < inodesLeast:
		c.addWarning("remove small files from this disk", "only %d more files fit on it", d.inodes)
	}
	return fmt.Sprintf("%s are free, the data takes %s", formatBytes(d.free), formatBytes(d.used))
}
