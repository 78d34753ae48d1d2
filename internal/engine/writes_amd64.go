//go:build linux

package engine

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"unsafe"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"
)

// What the functions of writes_amd64.s work with.
var (
	checkedOpenAddress, checkedWriteAddress, checkedSyncAddress uintptr

	libcOpen  uintptr // open, which open64 is too
	libcWrite uintptr // write
	libcSync  uintptr // fdatasync
	libcErrno uintptr // __errno_location
)

// checkWrites makes the library notice writes that fail. This build goes on
// after them as if the bytes were there (decision 46): parts of empty files
// become active on a full disk. What it does check is whether a file could be
// synced, and it syncs files of every part (config.go). So its open, write and
// fdatasync become checkedOpen, checkedWrite and checkedSync, with which no file
// can be synced that was open when a write failed: every insert and merge that
// was under way then fails before anything of it is visible.
func checkWrites(library string, handle uintptr) (err error) {
	if libcErrno, err = purego.Dlsym(purego.RTLD_DEFAULT, "__errno_location"); err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		old  *uintptr
		new  uintptr
	}{{"open", &libcOpen, checkedOpenAddress}, {"open64", &libcOpen, checkedOpenAddress}, {"write", &libcWrite, checkedWriteAddress}, {"fdatasync", &libcSync, checkedSyncAddress}} {
		slots, err := slotsOf(library, handle, f.name)
		if err != nil {
			return err
		}
		*f.old = *slots[0].addressPointer()
		for _, s := range slots {
			if err := s.setAddress(f.new); err != nil {
				return err
			}
		}
	}
	return nil
}

// slot is a place where a library keeps the address of a function of another.
type slot uintptr

// slotsOf finds all places where the library keeps the address of a function.
func slotsOf(library string, handle uintptr, function string) ([]slot, error) {
	file, err := elf.Open(library)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	symbols, err := file.DynamicSymbols()
	if err != nil {
		return nil, err
	}
	const known = "chdb_query_cmdline"
	at, err := purego.Dlsym(handle, known)
	if err != nil {
		return nil, err
	}
	var base, wanted uint64
	for i, s := range symbols {
		switch {
		case s.Name == known:
			base = uint64(at) - s.Value
		case s.Name == function && s.Section == elf.SHN_UNDEF:
			wanted = uint64(i) + 1 // the first symbol of the table is left out
		}
	}
	if base == 0 || wanted == 0 {
		return nil, fmt.Errorf("%s has no %s that calls %s", library, known, function)
	}
	var slots []slot
	for _, name := range []string{".rela.dyn", ".rela.plt"} {
		relocations, err := namedRelocations(file, name)
		if err != nil {
			return nil, err
		}
		for _, r := range relocations {
			if r.Info>>32 == wanted {
				slots = append(slots, slot(base+r.Off))
			}
		}
	}
	if len(slots) == 0 {
		return nil, fmt.Errorf("%s does not call %s", library, function)
	}
	return slots, nil
}

// namedRelocations are the relocations of a section that name a symbol. The
// million that do not come first.
func namedRelocations(file *elf.File, section string) ([]elf.Rela64, error) {
	s := file.Section(section)
	if s == nil {
		return nil, fmt.Errorf("no section %s", section)
	}
	var skip int64
	if section == ".rela.dyn" {
		relative, err := file.DynValue(elf.DT_RELACOUNT)
		if err != nil || len(relative) != 1 {
			return nil, fmt.Errorf("the number of relative relocations is %d: %w", relative, err)
		}
		skip = int64(relative[0]) * int64(unsafe.Sizeof(elf.Rela64{}))
	}
	raw := make([]byte, int64(s.Size)-skip)
	if _, err := s.ReadAt(raw, skip); err != nil {
		return nil, err
	}
	relocations := make([]elf.Rela64, len(raw)/int(unsafe.Sizeof(elf.Rela64{})))
	_, err := binary.Decode(raw, binary.LittleEndian, relocations)
	return relocations, err
}

// setAddress puts another address there. The page may be one that the loader has made
// read-only.
func (s slot) setAddress(function uintptr) error {
	size := uintptr(unix.Getpagesize())
	start := uintptr(s) &^ (size - 1)
	page := unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&start))), size)
	if err := unix.Mprotect(page, unix.PROT_READ|unix.PROT_WRITE); err != nil {
		return err
	}
	*s.addressPointer() = function
	return nil
}

// addressPointer is the slot as memory: the library's, which Go's does not move.
func (s slot) addressPointer() *uintptr { return *(**uintptr)(unsafe.Pointer(&s)) }
