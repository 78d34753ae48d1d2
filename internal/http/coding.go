package http

import (
	"bytes"
	"context"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// The content codings that answers are sent in, the better one first.
var codings = []string{"zstd", "gzip"}

// minCoded is the size from which on a body is worth compressing: it fills
// more than one packet of the network.
const minCoded = 1400

// codingFor is the coding of an answer for a client. Where it accepts several
// equally, ours is the order.
func codingFor(f *finished, accepted []string) (coding string, wanted bool) {
	if f.packed || f.name == "" || len(f.body) < minCoded {
		return "", false
	}
	all := wishes(accepted)
	best := qualityOf("identity", all)
	for _, name := range codings {
		if q := qualityOf(name, all); q > 0 && (q > best || !wanted && q == best) {
			coding, best, wanted = name, q, true
		}
	}
	return coding, wanted
}

// qualityOf is what a client says of a coding by its name.
func qualityOf(coding string, all []wish) int {
	for _, w := range all {
		if w.value == coding {
			return w.quality
		}
	}
	return 0
}

// tagOf is the strong tag of an answer in a coding: the bytes of each coding
// have one of their own.
func tagOf(name, coding string) string {
	if coding == "" {
		return name
	}
	return strings.TrimSuffix(name, `"`) + "-" + coding + `"`
}

// coded returns an answer in a coding. It is remembered beside the answer, and
// computed once for all who ask at the same time.
func (as *answers) coded(ctx context.Context, plain *finished, coding string) (*finished, error) {
	name := tagOf(plain.name, coding)
	if f, ok := as.known.Get(name); ok {
		return f, nil
	}
	return as.flights.Do(ctx, name, func(ctx context.Context) (*finished, error) {
		f := *plain
		waiting, done := patiently(ctx)
		defer done()
		err := as.inTurn(waiting, len(plain.body), func() error {
			f.coding, f.body = coding, compressed(plain.body, coding)
			return nil
		})
		if err != nil {
			return nil, err
		}
		as.remember(name, &f)
		return &f, nil
	})
}

// zstdEncoder has a window that every browser takes.
var zstdEncoder = func() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithWindowSize(1<<20))
	if err != nil {
		panic(err) // the options are ours
	}
	return e
}()

func compressed(body []byte, coding string) []byte {
	if coding == "zstd" {
		return zstdEncoder.EncodeAll(body, nil)
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b) // writing to memory does not fail
	w.Write(body)
	w.Close()
	return b.Bytes()
}
