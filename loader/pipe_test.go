package loader

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"testing"
	"testing/iotest"
)

func TestAPipeGivesWhatItIsGivenAndHashesIt(t *testing.T) {
	for _, size := range []int{0, 1, blockBytes - 1, blockBytes, blockBytes + 1, 3*pipeBlocks*blockBytes + 7} {
		text := bytes.Repeat([]byte("0123456789abcde"), size/15+1)[:size]
		p := newPipe(iotest.HalfReader(bytes.NewReader(text)))
		got, err := io.ReadAll(p)
		sum, want := p.closeAndSum(), sha256.Sum256(text)
		if err != nil || !bytes.Equal(got, text) || sum != hex.EncodeToString(want[:]) {
			t.Errorf("%d bytes: %d came out, hash %s: %v", size, len(got), sum, err)
		}
	}
}

func TestAPipeEndsWithTheErrorOfItsSourceBehindTheLastByte(t *testing.T) {
	broken := errors.New("the disk is gone")
	p := newPipe(io.MultiReader(bytes.NewReader(make([]byte, 2*blockBytes+1)), iotest.ErrReader(broken)))
	got, err := io.ReadAll(p)
	p.closeAndSum()
	if len(got) != 2*blockBytes+1 || !errors.Is(err, broken) {
		t.Errorf("%d bytes and %v", len(got), err)
	}
}

// endless never ends and never waits.
type endless struct{}

func (endless) Read(into []byte) (int, error) { return len(into), nil }

func TestAPipeThatIsGivenUpEnds(t *testing.T) {
	for _, read := range []int64{0, 1, blockBytes, 2*blockBytes + 1, 9 * blockBytes} {
		p := newPipe(endless{})
		if _, err := io.CopyN(io.Discard, p, read); err != nil {
			t.Fatal(err)
		}
		p.closeAndSum() // waits for all that runs
	}
}
