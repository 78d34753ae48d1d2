package main

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"
)

// isReplica reports whether the configuration has the file that tests give to replicas.
var isReplica = func() bool {
	_, err := os.Stat(configuration + "/config.d/replicas.xml")
	return err == nil
}()

// The library is clickhouse-local. It has all that replicated tables need but three things,
// which clickhouse-server's own main sets: the address where others fetch its parts, the
// scheme and the credentials of that, and a listener that answers them. enableReplicas sets them in the
// code that was loaded, of the one build that package-lock.json names. Any other build is
// refused: the offsets are those of that build, and the bytes there are compared.
const (
	entryOffset     = 0xf211700 // chdb_query_cmdline
	allocateOffset  = 0xeeebe00 // operator new
	listenerOffset  = 0xf117fb2 // where a listener of HTTP gets the name of its handlers
	afterListener   = 0xf117fd2
	interserverPort = 9009
	secondListener  = "127.0.0.1:8123" // of HTTP: the one that gets the handlers for other servers
)

// patch is code that takes the place of other code.
type patch struct {
	offset uintptr
	before string // the bytes that it begins with, in hexadecimal
	code   []byte
}

// enableReplicas makes the library one that other servers reach at a host.
func enableReplicas(library, host string) error {
	handle, err := purego.Dlopen(library, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return err
	}
	entry, err := purego.Dlsym(handle, "chdb_query_cmdline")
	if err != nil {
		return err
	}
	base := entry - entryOffset
	memory, err := unix.Mmap(-1, 0, 8192, unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return err
	}
	handlers := uint64(uintptr(unsafe.Pointer(&memory[0])))
	credentials, listeners := handlers+4096, handlers+6144
	// One user with neither a name nor a password: a vector of users is at byte 48.
	first, end := credentials+256, credentials+256+48
	for i, word := range []uint64{first, end, end} {
		binary.LittleEndian.PutUint64(memory[4096+48+8*i:], word)
	}
	copy(memory, nameHandlers(listeners, uint64(base)+allocateOffset, uint64(base)+afterListener))
	for _, p := range []patch{
		{0x1417c9c0, "4156534883ec484c8b36490fbe8e6701", returnText(host, interserverPort)},
		{0x1417cac0, "488b0680b88701000000781a48057001", returnText("http", 0)},
		{0x1417c940, "41574156534c8b3f498d9f8801000048", append(loadNumber(credentials), 0x31, 0xd2, 0xc3)},
		{listenerOffset, "c644243713c5f81005b7884df3c5f829", append(loadNumber(handlers), 0xff, 0xe0)},
	} {
		if err := p.apply(base); err != nil {
			return err
		}
	}
	return nil
}

// apply writes the code where the build is the one that is known.
func (p patch) apply(base uintptr) error {
	at := base + p.offset
	page := at &^ 4095
	whole := unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&page))), 8192)
	code := whole[at-page:]
	before, err := hex.DecodeString(p.before)
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(code, before) {
		return fmt.Errorf("the library is another build: at offset %x it has %x, expected %s", p.offset, code[:len(before)], p.before)
	}
	if err := unix.Mprotect(whole, unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC); err != nil {
		return err
	}
	copy(code, p.code)
	return unix.Mprotect(whole, unix.PROT_READ|unix.PROT_EXEC)
}

// loadNumber is code that puts a number into rax.
func loadNumber(n uint64) []byte {
	return binary.LittleEndian.AppendUint64([]byte{0x48, 0xb8}, n)
}

// returnText is a function that returns a short std::string of libc++, whose last of 24
// bytes is its length, and a port behind it where there is one.
func returnText(text string, port uint16) []byte {
	var short [24]byte
	copy(short[:23], text)
	short[23] = byte(len(text))
	var code []byte
	for i := byte(0); i < 24; i += 8 {
		code = append(code, loadNumber(binary.LittleEndian.Uint64(short[i:]))...)
		code = append(code, 0x48, 0x89, 0x47, i) // mov %rax, i(%rdi)
	}
	if port != 0 {
		code = append(code, 0x66, 0xc7, 0x47, 24, byte(port), byte(port>>8)) // movw $port, 24(%rdi)
	}
	return append(code, 0x48, 0x89, 0xf8, 0xc3) // mov %rdi, %rax; ret
}

// nameHandlers is code that gives the first listener of HTTP the handlers of HTTP, and
// those after it the ones that other servers ask. It counts listeners at an address,
// allocates the longer name, and goes on at another address.
func nameHandlers(listeners, allocate, goOn uint64) []byte {
	const (
		count = "48b81111111111111111 8b08 ff00 85c9 752f"
		short = "48b84854545048616e64 4889442420 48b86c65722d66616374 4889442428 48b86f727900000000134889442430 eb6d"
		room  = "5652 bf30000000 48b82222222222222222 ffd0 5a5e"
		long  = "48b93333333333333333 488908 48b94444444444444444 48894808 48b95555555555555555 48894810 48b96666666666666666 48894818"
		set   = "c6402000 4889442420 48c744242820000000 48b93000000000000080 48894c2430 48b87777777777777777 ffe0"
		name  = "InterserverIOHTTPHandler-factory"
	)
	code, err := hex.DecodeString(strings.ReplaceAll(count+short+room+long+set, " ", ""))
	if err != nil {
		panic(err)
	}
	for mark, word := range map[byte]uint64{
		0x11: listeners, 0x22: allocate, 0x77: goOn,
		0x33: binary.LittleEndian.Uint64([]byte(name[0:])), 0x44: binary.LittleEndian.Uint64([]byte(name[8:])),
		0x55: binary.LittleEndian.Uint64([]byte(name[16:])), 0x66: binary.LittleEndian.Uint64([]byte(name[24:])),
	} {
		code = bytes.Replace(code, bytes.Repeat([]byte{mark}, 8), binary.LittleEndian.AppendUint64(nil, word), 1)
	}
	return code
}

// forwardReplicas lets other servers reach the second listener, which is open to this container
// alone.
func forwardReplicas() error {
	l, err := net.Listen("tcp4", fmt.Sprintf(":%d", interserverPort))
	if err != nil {
		return err
	}
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			go forwardConn(from)
		}
	}()
	return nil
}

func forwardConn(from net.Conn) {
	defer from.Close()
	to, err := net.Dial("tcp4", secondListener)
	if err != nil {
		return
	}
	defer to.Close()
	go func() {
		io.Copy(to, from)
		to.(*net.TCPConn).CloseWrite()
	}()
	io.Copy(from, to)
}

// ownAddress is where other containers reach this one.
func ownAddress() (string, error) {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return "", err
	}
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() && n.IP.To4() != nil {
			return n.IP.String(), nil
		}
	}
	return "", errors.New("this container has no address of IPv4 that others reach")
}
