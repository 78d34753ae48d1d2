package loader

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"adlens/internal/platform"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"golang.org/x/sys/unix"
)

// kind is what a file's name says it holds, in the order of loading.
type kind uint8

const (
	kindProfiles kind = iota
	kindRates
	kindBankRates
	kindTitles
	kindReport
	kindConsole // perhaps: its content says whether it is a report of the console
	kindExport
	kindLegacy // a report of version 2: lists say which of its campaigns count
	kindRules
	kindRuleRuns
	kindActivity
)

// namedFiles are the files that are known by their whole name.
var namedFiles = map[string]kind{
	"profiles.json": kindProfiles, "rates.csv": kindRates, "products.csv": kindTitles,
	"eurofxref.csv": kindBankRates, "eurofxref.zip": kindBankRates, "eurofxref-hist.csv": kindBankRates, "eurofxref-hist.zip": kindBankRates,
	"rules.ndjson": kindRules, "rule_runs.ndjson": kindRuleRuns, "activity.ndjson": kindActivity,
}

// file is an extract file below one of the paths that were requested. It is
// opened through os.Root, so that no link leads out of that path.
type file struct {
	kind     kind
	root     *os.Root
	name     string      // within root
	download string      // of a report or export, within root
	object   os.FileInfo // of a report or export, as it was before it was decoded; nil of all else
	shown    string      // how the user knows it
}

// findFiles lists the extract files of the paths in the order of loading, and
// what is passed over or refused for its name alone.
func findFiles(paths []string) (files []file, others []FileResult, done func()) {
	f := finder{roots: map[string]*os.Root{}, seen: map[string]bool{}}
	for _, p := range paths {
		f.addPath(p)
	}
	slices.SortStableFunc(f.files, func(a, b file) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.shown, b.shown))
	})
	return f.files, f.others, f.closeRoots
}

type finder struct {
	files  []file
	others []FileResult
	roots  map[string]*os.Root // by directory: each costs a descriptor until the load ends
	seen   map[string]bool     // absolute paths, so that nothing is taken twice
}

func (f *finder) closeRoots() {
	for _, root := range f.roots {
		root.Close()
	}
}

func (f *finder) addPath(p string) {
	info, err := os.Stat(p)
	if err != nil {
		f.others = append(f.others, refusedResult(p, err))
		return
	}
	dir, name := p, "."
	if !info.IsDir() {
		dir, name = filepath.Split(p)
		dir = cmp.Or(dir, ".")
	}
	root, open := f.roots[dir]
	if !open {
		if root, err = os.OpenRoot(dir); err != nil {
			f.others = append(f.others, refusedResult(p, err))
			return
		}
		f.roots[dir] = root
	}
	if name != "." {
		f.classifyFile(root, name)
		return
	}
	f.walkRoot(root)
}

func (f *finder) walkRoot(root *os.Root) {
	fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch hidden := name != "." && strings.HasPrefix(path.Base(name), "."); {
		case err != nil:
			f.others = append(f.others, refusedResult(displayPath(root, name), err))
		case hidden && d.IsDir():
			f.others = append(f.others, skippedResult(displayPath(root, name), "a hidden directory"))
			return fs.SkipDir
		case !d.IsDir():
			f.classifyFile(root, name)
		}
		return nil
	})
}

func displayPath(root *os.Root, name string) string {
	return filepath.Join(root.Name(), filepath.FromSlash(name))
}

const (
	reportEnd = ".report.json"
	exportEnd = ".export.json"
)

// classifyFile takes a file by its name.
func (f *finder) classifyFile(root *os.Root, name string) {
	base := path.Base(name)
	table, isTable := namedFiles[base]
	switch {
	case strings.HasPrefix(base, "."):
		f.skipFile(root, name, "a hidden file")
	case isTable:
		f.addFile(root, name, table)
	case strings.HasSuffix(base, reportEnd):
		f.addPair(root, name, reportKind(root, name), strings.TrimSuffix(name, reportEnd))
	case strings.HasSuffix(base, exportEnd):
		f.addPair(root, name, kindExport, strings.TrimSuffix(name, exportEnd))
	case strings.HasPrefix(base, "~$"):
		f.skipFile(root, name, "a lock of a spreadsheet program")
	case isConsoleName(base):
		f.addFile(root, name, kindConsole)
	case strings.HasSuffix(base, ".json"), strings.HasSuffix(base, ".json.gz"):
		f.downloadOf(root, name)
	case isFolder(root, name):
		f.skipFile(root, name, "a link to a folder, which is not followed: give the folder itself, to load it")
	default:
		f.skipFile(root, name, "no extract file's name")
	}
}

// isFolder reports whether a link leads to a folder, wherever that is.
func isFolder(root *os.Root, name string) bool {
	info, err := os.Stat(displayPath(root, name))
	return err == nil && info.IsDir()
}

// reportKind tells reports of version 2 from others by their object.
func reportKind(root *os.Root, name string) kind {
	content, closeFile, err := file{kind: kindReport, root: root, name: name}.openUnpacked(name)
	if err != nil {
		return kindReport // what is wrong is found when it is loaded
	}
	defer closeFile()
	if platform.IsLegacy(content) {
		return kindLegacy
	}
	return kindReport
}

func (f *finder) firstSeen(root *os.Root, name string) bool {
	full, err := filepath.Abs(displayPath(root, name))
	if err != nil {
		full = displayPath(root, name)
	}
	first := !f.seen[full]
	f.seen[full] = true
	return first
}

func (f *finder) skipFile(root *os.Root, name, why string) {
	if f.firstSeen(root, name) {
		f.others = append(f.others, skippedResult(displayPath(root, name), why))
	}
}

func (f *finder) refuseFile(root *os.Root, name, why string) {
	if f.firstSeen(root, name) {
		f.others = append(f.others, refusedResult(displayPath(root, name), errors.New(why)))
	}
}

func (f *finder) addFile(root *os.Root, name string, k kind) {
	if f.firstSeen(root, name) {
		f.files = append(f.files, file{kind: k, root: root, name: name, shown: displayPath(root, name)})
	}
}

// addPair takes a report or export object together with its download.
func (f *finder) addPair(root *os.Root, name string, k kind, stem string) {
	packed, plain := fileExists(root, stem+".json.gz"), fileExists(root, stem+".json")
	switch {
	case packed && plain:
		f.refuseFile(root, name, fmt.Sprintf("it has two downloads, %s.json.gz and %s.json; one of them must go", path.Base(stem), path.Base(stem)))
	case !packed && !plain:
		f.refuseFile(root, name, fmt.Sprintf("it is without its download: expected %s.json.gz or %s.json beside it", path.Base(stem), path.Base(stem)))
	case f.firstSeen(root, name):
		download := stem + ".json"
		if packed {
			download += ".gz"
		}
		f.files = append(f.files, file{kind: k, root: root, name: name, download: download, shown: displayPath(root, name)})
	}
}

// downloadOf takes the report or export of a download; a download alone says
// nothing.
func (f *finder) downloadOf(root *os.Root, name string) {
	stem := strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".json")
	switch {
	case fileExists(root, stem+reportEnd):
		f.classifyFile(root, stem+reportEnd)
	case fileExists(root, stem+exportEnd):
		f.classifyFile(root, stem+exportEnd)
	default:
		f.refuseFile(root, name, fmt.Sprintf("a download without its report: expected %[1]s%[2]s or %[1]s%[3]s beside it", path.Base(stem), reportEnd, exportEnd))
	}
}

func fileExists(root *os.Root, name string) bool {
	_, err := root.Lstat(name)
	return err == nil
}

// openRegular opens a regular file for reading. close fails where the file changed
// while it was read.
func (f file) openRegular(name string) (opened *os.File, info os.FileInfo, closeFile func() error, err error) {
	// A pipe without a writer must not hold the load up, even one that
	// took a file's place a moment ago: it is opened without waiting.
	opened, err = f.root.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, nil, err
	}
	info, err = opened.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", path.Base(name))
	}
	if err != nil {
		opened.Close()
		return nil, nil, nil, err
	}
	return opened, info, func() error {
		defer opened.Close()
		after, err := opened.Stat()
		if err == nil && (after.Size() != info.Size() || !after.ModTime().Equal(info.ModTime())) {
			err = fmt.Errorf("%s changed while it was read", path.Base(name))
		}
		return err
	}, nil
}

// openUnpacked opens a regular file for reading, unpacked where its bytes say that it
// is packed, and without a byte order mark. close fails where the file changed
// while it was read.
func (f file) openUnpacked(name string) (io.Reader, func() error, error) {
	opened, info, closeFile, err := f.openRegular(name)
	if name == f.download {
		err = cmp.Or(f.requireObject(), err)
	}
	if err != nil {
		opened.Close() // which may be nil
		return nil, nil, err
	}
	content, err := unpackContent(opened, info.Size())
	if err != nil {
		opened.Close()
		return nil, nil, err
	}
	if f.kind != kindReport && f.kind != kindLegacy {
		content = boundedFile(content)
	}
	return content, closeFile, nil
}

// requireObject fails where another report took the place of this one, or it went, as while
// serve or pull work in the directory. They remove the object before they put another
// download in its place, so a download that was open before this is the object's own.
func (f file) requireObject() error {
	if f.object == nil {
		return nil
	}
	now, err := f.root.Stat(f.name)
	if err != nil || !os.SameFile(now, f.object) || !now.ModTime().Equal(f.object.ModTime()) {
		return fmt.Errorf("%s was replaced or deleted while the load ran; load the directory again", path.Base(f.name))
	}
	return nil
}

// readObject gives the object of a report or export to read. Its download is refused from now
// on where another object takes its place.
func (f *file) readObject(read func(io.Reader) error) error {
	object, err := f.root.Stat(f.name)
	if err == nil {
		err = f.readUnpacked(f.name, read)
	}
	f.object = object
	return asRefusal(err)
}

// readUnpacked gives a file's content to read. That it cannot be read, or changed
// meanwhile, is the file's fault, and both are told.
func (f file) readUnpacked(name string, read func(io.Reader) error) error {
	content, closeFile, err := f.openUnpacked(name)
	if err == nil {
		err = errors.Join(read(content), closeFile())
	}
	return asRefusal(err)
}

// unpacked is the content of a packed file, whose damage is reported as that of
// the packing.
type unpacked struct {
	file   *bufio.Reader // gzip takes no byte more of it than it needs
	packed *gzip.Reader
}

func (u unpacked) Read(p []byte) (int, error) {
	n, err := 0, error(nil)
	for n == 0 && err == nil { // there may be any number of empty members in a row
		if n, err = u.packed.Read(p); err == io.EOF {
			err = u.nextMember()
		}
	}
	var corrupt flate.CorruptInputError
	if errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) || errors.As(err, &corrupt) {
		err = fmt.Errorf("damaged gzip file: %w", err)
	}
	return n, err
}

// nextMember begins the next archive of a file that is several in a row, or returns
// io.EOF behind the last.
func (u unpacked) nextMember() error {
	head, err := u.file.Peek(2)
	switch {
	case len(head) == 0:
		return err
	case string(head) != gzipMark:
		return errors.New("damaged gzip file: what stands behind its end is no gzip")
	}
	err = u.packed.Reset(u.file)
	u.packed.Multistream(false)
	return err
}

const gzipMark = "\x1f\x8b"

func unpackContent(r io.Reader, size int64) (io.Reader, error) {
	// Small buffers: large reads pass them by, and most files are small.
	buffered := bufio.NewReaderSize(r, int(min(size+1, 32<<10)))
	if head, _ := buffered.Peek(2); string(head) == gzipMark {
		packed, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, fmt.Errorf("damaged gzip file: %w", err)
		}
		packed.Multistream(false)
		buffered = bufio.NewReader(unpacked{buffered, packed})
	}
	if mark, _ := buffered.Peek(3); string(mark) == "\xef\xbb\xbf" {
		buffered.Discard(3)
	}
	return buffered, nil
}
